#!/bin/bash
# A State and a Result with a vector of more than 4 GiB go from a master's socket
# to a worker's and back over loopback, and arrive as they were.
limit=1800
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
test=$(dirname "$(command -v dl-master)")/../tests/unit_transport
[ -x "$test" ] || fail "there is no $test; run make check"
have=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ "$have" -lt $((14 << 20)) ]; then
  echo "14 GiB of memory are not free" >&2
  exit 77
fi
"$test" "[.large]" >log || fail "$(cat log)"
tail -n 2 log
