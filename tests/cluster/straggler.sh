#!/bin/bash
# A worker that is much slower than the others is told of, with the factor, in
# what the master says and in the history of the run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in averaging sharing; do
  master $mode --mode $mode --epochs 100000 --min-workers 3
  worker $mode-a $mode
  DL_FAILPOINTS='worker.after_batch=sleep:150ms' worker $mode-slow $mode
  worker $mode-c $mode
  await "the warning" said $mode.err "slow (worker [0-9]*) is .*x slower than the median"
  kill -TERM "${pid[$mode]}"
  finish $mode
  for name in a slow c; do finish $mode-$name; done
  event $mode.safetensors.run '"event":"straggler".*"factor":' || fail "no event"
  ! said $mode.err "-[ac] (worker [0-9]*) is .*slower" || fail "another is told of"
  check $mode.safetensors.run >/dev/null
done
