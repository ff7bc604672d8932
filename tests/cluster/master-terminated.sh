#!/bin/bash
# SIGTERM to the master: it saves, tells the workers, and the same command
# finishes the run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging; do
  master "$mode" --mode "$mode" --epochs 120 --min-workers 2
  worker a "$mode"
  worker b "$mode"
  await "a commit" event "$mode.safetensors.run" '"event":"commit"'
  kill -TERM "${pid[$mode]}"
  finish "$mode"
  finish a
  finish b
  rm -f "$mode.json"
  master "$mode" --mode "$mode" --epochs 120 --min-workers 2
  worker a "$mode"
  worker b "$mode"
  finish "$mode"
  finish a
  finish b
  check "$mode.safetensors.run"
done
