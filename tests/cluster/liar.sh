#!/bin/bash
# One of two workers reports losses that are too high, by no more than could be: the
# master finds out by a loss of its own who that is, in each mode, and nothing is
# undone.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
# learnt NAME: the loss of its last commits is low, and there are many.
learnt() {
  tail -n 2000 "$1.safetensors.run/events.jsonl" |
    awk -F'"loss":' '/"event":"commit"/ {++n; sum += $2 + 0}
      END {exit !(n >= 500 && sum / n < 0.3)}'
}
for mode in sharing averaging sync; do
  master $mode --mode $mode --epochs 100000
  worker good $mode --wait-lost 2s # it may be joining again when the master ends
  await "what was learnt" learnt $mode
  DL_FAILPOINTS=worker.lie=nan#1 worker bad $mode
  await "its name" event $mode.safetensors.run '"event":"false_losses"'
  finish bad
  kill -TERM "${pid[$mode]}"
  finish $mode
  finish good
  said $mode.err "bad (worker 2) lost: its losses are .*sample of the data" ||
    fail "it is not told how that was found out"
  ! event $mode.safetensors.run '"event":"setback"' || fail "something was undone"
  check $mode.safetensors.run >/dev/null
done
