#!/bin/bash
# Averaging with outer momentum: the master dies, goes on from its checkpoint
# with the velocity in it, and the model has the same bytes as an undisturbed
# one.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode averaging --workers 2 --epochs 3 --frequency 4 \
    --outer nesterov --outer-rate 0.7 --min-workers 2 --checkpoint-batches 8
}

calm_run

DL_FAILPOINTS=master.after_commit=kill@17 train
worker a m
worker b m
finish m
train
finish m
finish a
finish b
check m.safetensors.run
event m.safetensors.run '"committed":\[\[0,.*"event":"resume"' ||
  fail "it did not go on in the middle of an epoch"
grep -aq training/velocity m.safetensors.run/checkpoint-*.safetensors ||
  fail "no velocity in the checkpoint"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
