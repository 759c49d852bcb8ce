#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests extract-xdr.sh on documents made for this, and on the real drafts. The drafts
# are optional: in $SPECS, by default ../shared/specs next to the checkout.

here=$(cd "$(dirname "$0")" && pwd)
extract=$here/extract-xdr.sh
data=$here/testdata
specs=${SPECS:-$here/../../shared/specs}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }

fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}

skip() {
	echo "SKIP: $*"
	skipped=$((skipped + 1))
}

# check TITLE COMMAND... - one test
check() {
	title=$1
	shift
	if "$@" >"$tmp/output" 2>&1; then
		pass
	else
		fail "$title"
		sed 's/^/    /' "$tmp/output"
	fi
}

# refuses STATUS TEXT ARGUMENTS... - the script exits with STATUS, and prints TEXT as
# an error and nothing to standard output
refuses() {
	status=$1 text=$2
	shift 2
	"$extract" "$@" >"$tmp/xdr" 2>"$tmp/message"
	[ $? -eq "$status" ] && [ ! -s "$tmp/xdr" ] &&
		grep -q -e "$text" "$tmp/message"
}

# splits DOCUMENT FILES... - into exactly these files, with the expected contents
splits() {
	rm -rf "$tmp/split"
	mkdir "$tmp/split"
	"$extract" -d "$tmp/split" "$data/$1" || return
	shift
	[ "$(ls "$tmp/split")" = "$(printf '%s\n' "$@" | sort)" ] || return
	for file; do
		diff "$data/expected/$file" "$tmp/split/$file" || return
	done
}

# prints_all_of DOCUMENT FILES... - without -d, it prints all files, and the lines that end them
prints_all_of() {
	document=$1
	shift
	(cd "$data/expected" && cat "$@") >"$tmp/expected"
	"$extract" "$data/$document" >"$tmp/whole" || return
	grep -v 'FILE ENDS' "$tmp/whole" | diff "$tmp/expected" -
}

compiles() {
	cp "$1" "$tmp/compiled.x" && (cd "$tmp" && rpcgen -h compiled.x)
}

check "marked lines, page breaks, split into files" \
	splits marked.txt parcel-types.x parcel-route.x marked.x
check "marked lines, all at once" \
	prints_all_of marked.txt parcel-types.x parcel-route.x marked.x
check "blocks, a page break, split" splits blocks.txt letters.x
check "blocks, all at once" prints_all_of blocks.txt letters.x
check "no document" refuses 2 Usage
check "two documents" refuses 2 Usage "$data/marked.txt" "$data/blocks.txt"
check "an unknown option" refuses 2 Usage -x "$data/marked.txt"
check "an unknown way of marking" \
	refuses 2 Usage -m starred "$data/marked.txt"
check "a document that does not exist" \
	refuses 1 'no such document' "$data/missing.txt"
check "a directory for a document" refuses 1 'no such document' "$data"
check "a directory that does not exist" \
	refuses 1 'no such directory' -d "$tmp/missing" "$data/marked.txt"
check "a document without XDR" refuses 1 'no XDR' "$data/none.txt"
: >"$tmp/empty.txt"
check "an empty document" refuses 1 'no XDR' "$tmp/empty.txt"
check "marks where there are none" \
	refuses 1 'no XDR' -m marked "$data/blocks.txt"
mkdir "$tmp/inner"
check "a file outside of the directory" \
	refuses 1 'not a name' -d "$tmp/inner" "$data/traversal.txt"
check "nothing is written there" test ! -e "$tmp/stone.x"
check "the same file twice" \
	refuses 1 'not a name' -d "$tmp/inner" "$data/twice.txt"
if command -v rpcgen >/dev/null; then
	for file in "$data"/expected/*.x; do
		check "rpcgen takes $(basename "$file")" compiles "$file"
	done
else
	skip "does rpcgen take what is extracted: no rpcgen (rpcsvc-proto)"
fi

### The real documents

# count CHARACTER
count() { tr -cd "$1" <"$tmp/spec.x" | wc -c; }

no_leaks() {
	! grep -nE '\[Page|^Internet-Draft|Expires |^ *///|<CODE|'"$(printf '\f')" \
		"$tmp/spec.x"
}

declares() {
	grep -qE "^ *(struct|union|enum)  *$1( |\$)" "$tmp/spec.x"
}

# spec DOCUMENT OPENING CLOSING FILES TYPES... - the document has so many opening and
# closing braces, names these files, and declares these types
spec() {
	document=$1 opening=$2 closing=$3 files=$4
	shift 4
	if [ ! -r "$specs/$document" ]; then
		skip "$document: not at hand"
		return
	fi
	check "$document: extract" "$extract" "$specs/$document"
	cp "$tmp/output" "$tmp/spec.x"
	check "$document: no page breaks, no marks" no_leaks
	check "$document: $opening opening braces" \
		test "$(count '{')" -eq "$opening"
	check "$document: $closing closing braces" \
		test "$(count '}')" -eq "$closing"
	for type; do
		check "$document: declares $type" declares "$type"
	done
	rm -rf "$tmp/split"
	mkdir "$tmp/split"
	"$extract" -d "$tmp/split" "$specs/$document"
	check "$document: files" \
		test "$(ls -x -w 0 "$tmp/split")" = "$files"
	check "$document: the files together are all of it" \
		test "$(cat "$tmp"/split/* | wc -l)" -eq \
		"$(grep -vc 'FILE ENDS' "$tmp/spec.x")"
}

# A known fault of v2-09: rpcrdma2_hdr_prefix has no opening brace.
spec draft-cel-nfsv4-rpcrdma-version-two-09-2019.txt 15 16 \
	'baseops.x  common.x' \
	rpcrdma_common rpcrdma2_hdr_prefix rpcrdma2_segment \
	rpcrdma2_read_segment rpcrdma2_read_list rpcrdma2_write_chunk \
	rpcrdma2_write_list rpcrdma2_chunk_lists rpcrdma2_propval \
	rpcrdma2_rvreqsup rpcrdma2_msg rpcrdma2_nomsg rpcrdma2_err_vers \
	rpcrdma2_err_write rpcrdma2_error rpcrdma2_connprop
spec draft-cel-nfsv4-rpcrdma-version-two-01-2016.txt 14 14 \
	draft-cel-nfsv4-rpcrdma-version-two-01-2016.x \
	msg_type rpcrdma2_segment rpcrdma2_chunk_lists rpcrdma2_errcode \
	rpcrdma2_optional rpcrdma2_proc rpcrdma2_body rpcrdma2_xprt_hdr
spec draft-dnoveck-nfsv4-rpcrdma-xcharext-01-2016.txt 6 6 \
	draft-dnoveck-nfsv4-rpcrdma-xcharext-01-2016.x \
	xcharval bkrqsup optinfo_initxch optinfo_reqxch optinfo_respxch \
	optinfo_updxch
spec draft-ietf-nfsv4-rpcrdma-version-two-2022.txt 18 18 \
	'baseops.x  common.x' \
	rpcrdma_common rpcrdma2_hdr_prefix rpcrdma2_segment \
	rpcrdma2_hdr_error rpcrdma2_hdr_connprop rpcrdma2_hdr_call_external \
	rpcrdma2_hdr_call_inline rpcrdma2_hdr_reply_external \
	rpcrdma2_hdr_reply_inline
for document in rfc8797-summary.txt rfc8797-xml-diff.txt; do
	if [ -r "$specs/$document" ]; then
		check "$document: has none" \
			refuses 1 'no XDR' "$specs/$document"
	else
		skip "$document: not at hand"
	fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
