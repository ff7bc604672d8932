#!/bin/bash
# Sharing: the master dies in the middle of an epoch; the identical command
# goes on from its checkpoint, and every example counts once.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode sharing --epochs 3 --min-workers 2 --checkpoint-batches 8
}
DL_FAILPOINTS=master.after_commit=kill@55 train
worker a m
worker b m
finish m
train
finish m
finish a
finish b
check m.safetensors.run
event m.safetensors.run '"event":"resume"' || fail "it did not resume"
