#!/bin/bash
# A worker is frozen, its lease is given to another, and it wakes up with an
# answer: that is refused, it works on, and nothing counts twice.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging; do
  case $mode in
    sharing) point=worker.before_update=stop@3 ;;
    averaging) point=worker.before_result=stop@3 ;;
  esac
  master "$mode" --mode "$mode" --epochs 2000 --min-workers 2
  DL_FAILPOINTS=$point worker a "$mode"
  worker b "$mode"
  await "the frozen one to be missed" event "$mode.safetensors.run" '"event":"lost"'
  kill -CONT "${pid[a]}"
  await "its answer to be refused" event "$mode.safetensors.run" '"event":"stale"'
  await "it to be back" event "$mode.safetensors.run" '"event":"return"'
  kill -TERM "${pid[$mode]}"
  finish "$mode"
  finish a
  finish b
  "$DL_TEST_ROOT/tests/cluster/check-events" "$mode.safetensors.run" >/dev/null ||
    fail "history of $mode"
done
