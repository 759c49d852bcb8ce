#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: spin shows that the models of the handshake and of the credits keep their
# claims. The first lines of each model have its claims. The script also puts mistakes into the
# models and into the handshake's table: each mistake must break the matching claim.

set -u

cd "$(dirname "$(realpath "$0")")" || exit 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile=(gcc -O1)
code=../net/sunrpc/xprtrdma/conn
failures=0

# table HANDSHAKE.C - print the table as Promela: the names of states, events and actions, and
# step()
table() {
	awk '
	/^enum/ { value = 0; names = 1 }
	/^}/ { names = 0 }
	names && match($0, /RPCRDMA2_HS_[A-Z0-9_]+/) {
		print "#define " substr($0, RSTART + 12, RLENGTH - 12), value++
	}' "$code/handshake.h"
	echo "inline step(s, e) { if"
	tr -d '\n\t ' <"$1" | sed 's/\[RPCRDMA2_HS_/\n&/g; s/ON(/\n&/g' |
	sed -nE -e 's/^\[RPCRDMA2_HS_([A-Z0-9_]+)\]=\{.*/\1/;t state' \
		-e 's/^ON\(([A-Z0-9_]+),([A-Z0-9_]+),([A-Z0-9_]+)\).*/\1 \2 \3/p' \
		-e 'b' -e ':state;s/^/state /p' |
	awk '
	$1 == "state" { state = $2; next }
	{ printf ":: s == %s && e == %s -> action = %s; next = %s\n", state, $1, $2, $3 }'
	echo "fi }"
}

# check KIND MODEL DEFINITION... - search the model for faults. KIND "states" finds failed
# assertions and deadlocks; KIND "cycles" finds cycles without progress. Sets $said to the
# fault, and $states to the number of states.
check() {
	local kind=$1 model=$2 cc=(-DSAFETY) pan=()
	shift 2

	if [ "$kind" = cycles ]; then
		cc=(-DNP)
		pan=(-l)
	fi
	states=0 said="not checked"
	(cd "$out" && rm -f pan* && spin -a "$@" "$model" >spin.log &&
	 "${compile[@]}" -w -DMEMLIM=2000 "${cc[@]}" -o pan pan.c &&
	 ./pan -m10000 "${pan[@]}" >pan.log 2>&1) || {
		cat "$out/spin.log"
		return
	}
	states=$(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$out/pan.log")
	said=$(sed -nE 's/^pan:1: (.*) \(at depth.*/\1/p' "$out/pan.log")
	# An incomplete search proves nothing, unless it found a fault.
	! grep -qE 'truncated|too small|reached -DMEMLIM|out of memory' "$out/pan.log" ||
		: "${said:=search not complete}"
}

report() {
	echo "$*"
	[ "$1" = ok: ] || failures=$((failures + 1))
}

# holds WHAT KIND MODEL DEFINITION... - report whether the model keeps its claims
holds() {
	check "${@:2}"
	if [ -z "$said" ] && [ "${states:-0}" -gt 0 ]; then
		report ok: "$1: $2: none bad of $states"
	else
		report FAILED: "$1: $2: ${said:-nothing was checked}"
	fi
}

# breaks WHAT CLAIM KIND MODEL DEFINITION... - report whether the search finds a fault with
# CLAIM in its message. The search finds it early, so tcc compiles it: gcc would take longer
# than the search.
breaks() {
	local compile=(tcc)

	check "${@:3}"
	if [[ $said = *"$2"* ]]; then
		report ok: "$1: found: $said"
	else
		report FAILED: "$1: not found: ${said:-no error}"
	fi
}

# sizes SIZE... - print the sizes of a model of credits as definitions. The first two are the
# Calls that the server, and the client, take at a time. The numbers of Calls, callbacks, losses,
# kills, drops and errors follow. The last one is the number of the server's threads (2).
sizes() {
	echo "-DFORTH=$1 -DBACK=$2 -DCALLS=$3 -DCALLBACKS=$4 -DLOSSES=$5 -DKILLS=$6" \
	     "-DDROPS=$7 -DERRORS=$8 -DTHREADS=${9:-2}"
}

# credits KIND SIZE... - check the model of credits
credits() {
	# shellcheck disable=SC2046 # several words
	holds "credits, ${*:2}" "$1" credits.pml $(sizes "${@:2}")
}

# mistake CLAIM NAME SIZE... - check that the mistake NAME in the model of credits breaks CLAIM
mistake() {
	# shellcheck disable=SC2046 # several words
	breaks "credits, $2" "$1" states credits.pml -DMUTANT="$2" $(sizes "${@:3}")
}

# wrong_row CLAIM KIND ROW WRONG-ROW - check that WRONG-ROW, in the place of ROW in the
# handshake's table, breaks CLAIM. A row is "EVENT ACTION STATE".
wrong_row() {
	local event action state

	read -r event action state <<<"$3"
	sed -E "s/ON\($event,\s*$action,\s*$state\)/ON(${4// /, })/" \
		"$code/handshake.c" >"$out/handshake.c"
	if cmp -s "$out/handshake.c" "$code/handshake.c"; then
		report FAILED: "the table has no row $3"
		return
	fi
	table "$out/handshake.c" >"$out/table.pml"
	breaks "handshake, $4" "$1" "$2" handshake.pml -DLOSSES=1
}

cp model/*.pml "$out"
table "$code/handshake.c" >"$out/table.pml"
rows=$(grep -c '^:: s == ' "$out/table.pml")
if [ "$rows" -eq 0 ] || [ "$rows" -ne "$(grep -c '	ON(' "$code/handshake.c")" ]; then
	echo "FAILED: the table was not understood: $rows rows"
	exit 1
fi

holds handshake states handshake.pml -DLOSSES=2
holds handshake cycles handshake.pml -DLOSSES=2
breaks "handshake, NEVER_REFUSED" "non-progress cycle" cycles handshake.pml -DLOSSES=0 \
	-DNEVER_REFUSED
refused="!(((client_low<=server_high)" astray="assertion violated 0"
breaks "handshake, NEVER_FORGETS" "asked" states handshake.pml -DLOSSES=2 \
	-DNEVER_FORGETS
wrong_row "$refused" states "LOST ASSUME_NEXT FAILED" "LOST NOTHING FAILED"
wrong_row "$refused" states "SILENCE NOTHING TRYING" "SILENCE ASSUME_NEXT FAILED"
wrong_row "$refused" states "PROPS TAKE_PROPS VERSION_2" "PROPS HANG_UP FAILED"
wrong_row "$refused" states "SPEAKS_OTHER ASK_NEXT ASKING" \
	"SPEAKS_OTHER HANG_UP FAILED"
wrong_row "$refused" states "REFUSED_TRY_OTHER ASK_NEXT ASKING" \
	"REFUSED_TRY_OTHER HANG_UP FAILED"
wrong_row "$refused" states "PROPS_ANSWER TAKE_PROPS VERSION_2" \
	"PROPS_ANSWER TAKE_PROPS VERSION_1"
wrong_row "$astray" states "CALL_1 DELIVER VERSION_1" "CALL_1 HANG_UP FAILED"
wrong_row "$astray" states "FOREIGN ANSWER_ERROR WAITING" "FOREIGN HANG_UP FAILED"

credits states	2 0 3 0 0 0 0 0
credits states	2 0 2 0 1 1 1 0
credits cycles	2 0 2 0 1 1 1 0
credits states	2 0 2 0 1 0 1 1
credits states	2 1 2 1 0 0 0 0
credits states	1 1 1 1 1 0 1 1
calls="calls[me]<" receive="posted[(1-me)]>0" answer="rpc[id]=="
mistake unanswered	NO_SECOND_LOOK		1 0 2 0 0 0 0 0
mistake "invalid end"	NO_STARVED		1 0 2 0 0 1 1 0
mistake "$calls"	KILLED_CREDIT		1 0 2 0 0 1 0 0
mistake "$answer"	SENT_TWICE		2 0 2 0 1 0 0 0
mistake unanswered	ERROR_KEEPS_CREDIT	1 0 2 0 0 0 0 1
mistake unanswered	NO_CLAMP		1 0 2 0 0 0 0 0
mistake "$receive"	GRANT_FIRST		3 0 3 0 0 0 0 0 1
mistake "$calls"	LATE_CREDIT		1 0 2 0 0 0 0 0
mistake "$receive"	LATE_RECEIVE		1 0 3 0 0 0 0 0
mistake "$receive"	NO_CONTROL		1 0 2 0 0 0 0 0
mistake unanswered	NO_USERS		1 0 2 0 1 0 0 0

echo "$failures failed, $SECONDS s"
[ $failures -eq 0 ]
