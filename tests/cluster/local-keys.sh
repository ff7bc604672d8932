#!/bin/bash
# Local workers beside others that have keys: each gets one of its own, on its
# standard input, and a new one when it is started again.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys --worker far >/dev/null || fail "dl-keygen"
# In each local worker that starts.
DL_FAILPOINTS='worker.after_batch=kill@30' master m --epochs 10 --local 1 \
  --min-workers 2 --keys keys
worker far m --keys keys/hand-out/far
finish m
finish far
check m.safetensors.run
names() {
  sed -n 's/.*"event":"join".*"name":"\([^"]*\)".*/\1/p' "$1.safetensors.run/events.jsonl"
}
[ "$(names m | grep -c local)" -ge 2 ] || fail "it was not started again"
names m | sed 's/local-.*/local/' | sort -u
ls keys/workers
# Without keys, at an address that others do not reach.
master plain --epochs 1 --local 1
worker near plain
finish plain
finish near
