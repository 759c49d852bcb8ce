#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Print the XDR in a protocol document, or split it into files.
#
# Internet-Drafts mark XDR in one of two ways. In some, each line of XDR starts
# with "///". Others have blocks between <CODE BEGINS> and <CODE ENDS>, some of
# which are not XDR. In a paginated document, a page's footer and the next page's
# header may stand inside a block.

name=$(basename "$0")

usage() {
	cat >&2 <<-END
	Usage: $name [-m marked|blocks] [-d DIRECTORY] DOCUMENT

	  -m marked  take the lines that start with "///"; the default if there
	             are any
	  -m blocks  take the blocks between <CODE BEGINS> and <CODE ENDS> that
	             declare something
	  -d DIRECTORY
	             write a file there for every "FILE ENDS: name" in the XDR;
	             the rest goes to a file named after the document
	END
	exit 2
}

die() {
	echo "$name: $*" >&2
	exit 1
}

mode=
dir=
while getopts m:d: option; do
	case $option in
	m)	mode=$OPTARG ;;
	d)	dir=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || usage
case $mode in
''|marked|blocks) ;;
*)	usage ;;
esac
[ -f "$1" ] || die "$1: no such document"
[ -r "$1" ] || die "$1: not readable"
[ -z "$dir" ] || [ -d "$dir" ] || die "$dir: no such directory"

plain() { tr -d '\f\r' <"$1"; }

# Some documents leave out the space after the mark.
marked() { plain "$1" | sed -n 's:^[[:space:]]*/// \{0,1\}::p'; }

# Drop page breaks with the blank lines around them. Then drop the indentation that
# all lines of a block share.
blocks() {
	plain "$1" | awk '
	/^[[:space:]]*<CODE BEGINS>/ {
		inside = 1
		lines = xdr = 0
		next
	}
	/^[[:space:]]*<CODE ENDS>/ {
		if (inside && xdr)
			print_block()
		inside = 0
	}
	!inside {
		next
	}
	/\[Page [0-9]+\][[:space:]]*$/ {
		while (lines && line[lines] ~ /^[[:space:]]*$/)
			lines--
		page_break = 1
		next
	}
	page_break && /^(Internet-Draft|RFC [0-9]+)[[:space:]]/ {
		next
	}
	page_break && /^[[:space:]]*$/ {
		next
	}
	/^[[:space:]]*(struct|union|enum|const|typedef|program)[[:space:]]/ {
		xdr = 1
	}
	{
		page_break = 0
		line[++lines] = $0
	}
	function print_block(    i, indent, least) {
		least = -1
		for (i = 1; i <= lines; i++) {
			if (line[i] ~ /^[[:space:]]*$/)
				continue
			match(line[i], /^ */)
			if (least < 0 || RLENGTH < least)
				least = RLENGTH
		}
		for (i = 1; i <= lines; i++)
			print substr(line[i], least + 1)
	}'
}

if [ -z "$mode" ]; then
	mode=blocks
	[ -z "$(marked "$1")" ] || mode=marked
fi
xdr=$($mode "$1" && echo .) || die "$1: cannot be read"
xdr=${xdr%.}
[ -n "$(printf %s "$xdr" | tr -d '[:space:]')" ] ||
	die "$1: no XDR in it ($mode)"

if [ -z "$dir" ]; then
	printf %s "$xdr"
	exit
fi

base=$(basename "$1")
printf %s "$xdr" | awk -v dir="$dir" -v rest="${base%.*}.x" '
	match($0, /FILE ENDS: [^;[:space:]]+/) {
		write(substr($0, RSTART + 11, RLENGTH - 11))
		next
	}
	{
		text = text $0 "\n"
	}
	END {
		if (!wrong && text ~ /[^[:space:]]/)
			write(rest)
		exit wrong
	}
	function write(file) {
		if (file !~ /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/ || file in written) {
			print "not a name for a file, or not a new one: " file \
				>"/dev/stderr"
			wrong = 1
			exit 1
		}
		written[file] = 1
		printf "%s", text >(dir "/" file)
		close(dir "/" file)
		text = ""
	}' || die "$1: cannot be split into files"
