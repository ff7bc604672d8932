#!/bin/bash
# Averaging: a worker dies in the middle of a round and the other does its
# work; the model has the same bytes as one of an undisturbed run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode averaging --workers 2 --min-workers 2 --epochs 3 --frequency 4
}

calm_run
check ../calm/m.safetensors.run

train
DL_FAILPOINTS=worker.after_batch=kill@7 worker a m
worker b m
finish a
finish m
finish b
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was lost"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
