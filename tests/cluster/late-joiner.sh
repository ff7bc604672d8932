#!/bin/bash
# A worker that comes in the middle of a run gets work, in each mode.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging sync; do
  master "$mode" --mode "$mode" --epochs 500
  worker a "$mode"
  await "a commit" event "$mode.safetensors.run" '"event":"commit"'
  worker b "$mode"
  await "the late one's commit" event "$mode.safetensors.run" \
    '"event":"commit".*"worker":2'
  kill -TERM "${pid[$mode]}"
  finish "$mode"
  finish a
  finish b
  "$DL_TEST_ROOT/tests/cluster/check-events" "$mode.safetensors.run" >/dev/null ||
    fail "history of $mode"
done
