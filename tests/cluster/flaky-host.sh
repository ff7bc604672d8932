#!/bin/bash
# One host on which every worker dies in its first mini-batch and is started again
# at once: the others finish the run, and nobody blames the data.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging; do
  master $mode --mode $mode --epochs 3
  for good in a b; do
    DL_FAILPOINTS=worker.compute=sleep:100ms worker $mode-$good $mode
  done
  await "them to work" event $mode.safetensors.run '"event":"commit"'
  for _ in 1 2 3 4 5 6; do
    DL_FAILPOINTS=worker.compute=kill worker flaky $mode
    finish flaky >/dev/null
  done
  event $mode.safetensors.run '"event":"revoke"' || fail "no work was lost"
  finish $mode
  for good in a b; do finish $mode-$good; done
  check $mode.safetensors.run
done
