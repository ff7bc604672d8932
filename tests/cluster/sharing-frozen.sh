#!/bin/bash
# Sharing starts from a model of another network, whose layers are frozen: they
# keep their bytes, though the master dies in between.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
make_base
scaling=()
train() {
  master m --init base.safetensors --mode sharing --epochs 3 --min-workers 2 \
    --checkpoint-every 0s
}
DL_FAILPOINTS=master.after_commit=kill@55 train
worker a m
worker b m --threads 2
finish m
train
finish m
finish a
finish b
check m.safetensors.run
compare_tensors base.safetensors m.safetensors
! event m.safetensors.run 'replica differs' || fail "a replica differs"
