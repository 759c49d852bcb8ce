#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: checkpatch, sparse, shellcheck, and the checks of documents, comments, names,
# layers and interfaces find nothing. They look at the whole tree. Linux 6.1 provides checkpatch,
# and the kernel for sparse. The compiler's warnings (W=1) are errors whenever the lab builds
# modules.

set -u

tree=$(realpath "$(dirname "$0")/..")
lab=$tree/tools/lab/lab
failures=0

# check TITLE COMMAND... - run a check. It fails if COMMAND fails or prints anything.
check() {
	local title=$1 output
	shift

	if output=$("$@" 2>&1) && [ -z "$output" ]; then
		echo "ok: $title"
	else
		echo "$output"
		echo "FAILED: $title"
		failures=$((failures + 1))
	fi
}

# files TEST... - print the files of the tree for which find's TESTs hold.
files() { find . -name .git -prune -o -type f "$@" -print | sort; }

c_files() { files -name '*.[ch]' ! -name '*.mod.c'; }

# shell_files - print the shell scripts. A command has no suffix in any language, so look at its
# first line.
shell_files() {
	files \( -name '*.sh' -o -perm -u+x -o -path './.ci/run' \) |
	while read -r file; do
		case $file$(head -n 1 "$file" | tr -d '\0') in
		*.sh*|*'#!/bin/sh'*|*'#!/bin/bash'*) echo "$file" ;;
		esac
	done
}

# ignored_in FILE - print the kinds of warnings that checkpatch should not give for a file:
#
# - Tracepoints are laid out as in the kernel, but checkpatch takes them for code.
# - compat.h compares kernel versions, and has macros for interfaces that some versions lack.
# - tools/fuzz replaces kernel headers, and has names of libFuzzer.
# - tools/prove has names of Frama-C.
# - tests/peer is a program, with messages in hex over several lines.
ignored_in() {
	case $1 in
	*/trace/events/*) echo OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO,TRAILING_SEMICOLON,MACRO_ARG_UNUSED ;;
	*compat.h) echo LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_UNUSED,MACRO_WITH_FLOW_CONTROL,COMPLEX_MACRO ;;
	*/tools/fuzz/*) echo CAMELCASE,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,PREFER_DEFINED_ATTRIBUTE_MACRO ;;
	*/tools/prove/*) echo CAMELCASE ;;
	*/tests/peer/*) echo PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,SPLIT_STRING,COMPLEX_MACRO,VOLATILE ;;
	*)	echo NONE ;;
	esac
}

checkpatch() {
	local file

	c_files | while read -r file; do
		"$source/scripts/checkpatch.pl" --root="$source" --strict --no-tree \
			--terse --no-summary --ignore "$(ignored_in "$file")" \
			-f "$file"
	done
}

# With C=2, sparse checks files even if they were compiled before. The lab does this where it builds
# the guests' modules, so that nothing is compiled twice.
check_sparse() {
	KERNEL=6.1 "$lab" modules debug C=2 >/dev/null
}

check_shell() { shell_files | xargs shellcheck -x -P SCRIPTDIR:.; }

check_python() {
	files -name '*.py' | xargs -n 1 python3 -B -c \
		'import ast, sys; ast.parse(open(sys.argv[1]).read())'
}

check_prose() {
	tests/prose.py && tests/prose.py --comments && tests/reference.py && tests/catalogue.py --check
}

check_interfaces() { tools/netlink.py --check && tests/abi.py; }

"$lab" deps lint && debug=$(KERNEL=6.1 "$lab" kernel debug) || exit
source=$(realpath "$debug/build/source")
cd "$tree" || exit

check checkpatch checkpatch
check sparse check_sparse
check shellcheck check_shell
check python check_python
check documentation check_prose
check names tests/names.py
check layers tests/layers.py
check "stable interfaces" check_interfaces
[ $failures -eq 0 ]
