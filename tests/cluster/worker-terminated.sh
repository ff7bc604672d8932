#!/bin/bash
# SIGTERM to a worker: it says goodbye, its work goes to the other at once, and
# nothing is lost.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging; do
  master "$mode" --mode "$mode" --epochs 1000 --min-workers 2 \
    --lost-after 60s
  worker a "$mode"
  worker b "$mode"
  await "a commit of each" event "$mode.safetensors.run" \
    '"event":"commit".*"worker":1'
  await "a commit of each" event "$mode.safetensors.run" \
    '"event":"commit".*"worker":2'
  kill -TERM "${pid[a]}"
  finish a
  tail -n 1 a.err
  finish "$mode"
  finish b
  check "$mode.safetensors.run"
  event "$mode.safetensors.run" '"event":"leave"' || fail "it did not say so"
done
