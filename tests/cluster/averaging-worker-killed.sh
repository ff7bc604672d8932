#!/bin/bash
# Averaging: a worker dies in the middle of a round and the other does its
# work; the model has the same bytes as one of an undisturbed run.  The end of its
# connection tells, however long it might have been silent.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_LOST_AFTER=10m
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
grep -o 'lost: its connection ended' m.err
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
