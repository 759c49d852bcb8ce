# SPDX-License-Identifier: GPL-2.0
#
# Print the reports of trouble in kernel logs, except reports on the allow-list. Exit with 1 if
# there are any.
#
#	awk -v allowlist=FILE -f scan.awk LOG...

BEGIN {
	trouble = "BUG[: ]|kernel BUG at|WARNING: |Oops|KASAN: |UBSAN: " \
		"|Kernel panic|general protection fault|nable to handle kernel" \
		"|INFO: task .* blocked|INFO: .*stall|INFO: trying to register" \
		"|lockdep is turned off|DEBUG_LOCKS_WARN_ON" \
		"|refcount_t: |ODEBUG: |list_(add|del) corruption|ref_tracker: " \
		"|unreferenced object|new suspected memory leak|[^a-z]leaked" \
		"|still (has|have|in use)|waiting for .* to become free" \
		"|workqueue lockup|detected buffer overflow|stack overflow" \
		"|mimic: ERROR"
	# An address on the stack that belongs to no frame
	guess = "^ \\[<[0-9a-f]+>\\] \\? "
	# Functions that work on data of their caller
	helper = "^ (mem(cpy|move|set|cmp)|_*list_|llist_|_*xdr_|_*rb_|_*xas?_|_raw_)"
	lines = 200	# of a report, at most
	shown = 40

	while ((getline line < allowlist) > 0)
		if (line !~ /^#|^[ \t]*$/)
			known[++entries] = line
}

# A console may end its lines with a carriage return. It puts a time in front of each line.
{
	sub(/\r$/, "")
	text = $0
	sub(/^\[ *[0-9.]+\] /, "", text)
}

FNR == 1 || text ~ trouble || length_of_report == lines {
	finish()
}

# On some machines, the text of a warning comes before the line with WARNING.
text ~ /-\[ cut here \]-/ {
	finish()
	words = 0
	room = 3
	next
}

text ~ trouble && !length_of_report {
	file = FILENAME
	start = FNR
	for (i = 1; i <= words; i++)
		report[++length_of_report] = before[i]
	words = room = 0
}

!file && room {
	before[++words] = text
	if (!--room)
		words = 0
}

file {
	report[++length_of_report] = text
	if (text ~ /---\[ end trace/)
		finish()
}

END {
	finish()
	if (reports)
		printf "%d splat%s\n", reports, reports == 1 ? "" : "s"
	exit reports > 0
}

function finish(    i, left) {
	if (length_of_report && !is_known()) {
		reports++
		printf "--- splat, %s line %d:\n", file, start
		for (i = left = 1; i <= length_of_report && left <= shown; i++)
			if (report[i] !~ guess) {
				print report[i]
				left++
			}
	}
	length_of_report = 0
	file = ""
}

# Data races count only if they are in a module under test: the kernel has its own. The function
# to look at is the first one of each access that is no helper of its caller.
function is_foreign_race(    i, is_next) {
	if (report[1] !~ /BUG: KCSAN: /)
		return 0
	for (i = 2; i <= length_of_report; i++)
		if (report[i] ~ /^[a-z].* of [0-9]+ bytes by /)
			is_next = 1
		else if (is_next && report[i] !~ helper) {
			if (report[i] ~ /\[(rpcrdma2|mimic)/)
				return 0
			is_next = 0
		}
	return 1
}

function is_known(    i, j, k, n, parts, found) {
	if (is_foreign_race())
		return 1
	for (i = 1; i <= entries; i++) {
		n = split(known[i], parts, / && /)
		found = 0
		for (j = 1; j <= n; j++)
			for (k = 1; k <= length_of_report; k++)
				if (report[k] ~ parts[j]) {
					found++
					break
				}
		if (found == n)
			return 1
	}
	return 0
}
