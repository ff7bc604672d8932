#!/bin/bash
# Averaging: the master dies, the identical command goes on, the workers come
# back by themselves, and the model has the same bytes as an undisturbed one.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode averaging --workers 2 --epochs 3 --frequency 4 \
    --min-workers 2 --checkpoint-batches 16
}

calm_run

DL_FAILPOINTS=master.after_commit=kill@15 train
worker a m
worker b m
finish m
train
finish m
finish a
finish b
check m.safetensors.run
event m.safetensors.run '"event":"resume"' || fail "it did not resume"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
