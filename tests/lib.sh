# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions for guest scripts. Each script starts by sourcing this file, which sources the files
# of tests/lib/, one for each topic.

# shellcheck source=tools/lab/guest/lib.sh
. "${LAB_LIB:?run this in a guest, by tools/lab/lab}"

SKIPPED=77

# skip REASON... - end the script, because this guest can't run the test.
skip() {
	echo "SKIP: $*"
	exit $SKIPPED
}

# must COMMAND... - run COMMAND. If it fails, the test fails.
must() { "$@" || lab_fail "status $?: $*"; }

# shellcheck source=tests/lib/server.sh
. "$LAB_TREE/tests/lib/server.sh"
# shellcheck source=tests/lib/dma.sh
. "$LAB_TREE/tests/lib/dma.sh"
# shellcheck source=tests/lib/pair.sh
. "$LAB_TREE/tests/lib/pair.sh"
# shellcheck source=tests/lib/work.sh
. "$LAB_TREE/tests/lib/work.sh"
# shellcheck source=tests/lib/connections.sh
. "$LAB_TREE/tests/lib/connections.sh"
# shellcheck source=tests/lib/cost.sh
. "$LAB_TREE/tests/lib/cost.sh"
# shellcheck source=tests/lib/addresses.sh
. "$LAB_TREE/tests/lib/addresses.sh"
# shellcheck source=tests/lib/failures.sh
. "$LAB_TREE/tests/lib/failures.sh"
# shellcheck source=tests/lib/events.sh
. "$LAB_TREE/tests/lib/events.sh"
# shellcheck source=tests/lib/jobs.sh
. "$LAB_TREE/tests/lib/jobs.sh"
