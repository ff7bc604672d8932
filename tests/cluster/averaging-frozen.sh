#!/bin/bash
# Averaging starts from a model of another network, whose layers are frozen:
# they keep their bytes, running statistics too, and a run whose master dies ends
# as an undisturbed one.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
make_base
scaling=()
train() {
  master m --init ../base.safetensors --mode averaging --workers 2 --epochs 3 \
    --frequency 4 --min-workers 2 --update-log keep --checkpoint-every 0s
}
calm_run

DL_FAILPOINTS=master.after_log=kill@7 train
worker a m
worker b m
finish m
train
finish m
finish a
finish b
check m.safetensors.run
compare_tensors ../base.safetensors m.safetensors
! event m.safetensors.run 'replica differs' || fail "a replica differs"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
