#!/bin/bash
# Averaging with constraints that an average does not keep: the master dies and
# goes on, the model has the same bytes as an undisturbed one and as the log
# gives, and its weights keep their norms.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
constrain_net
train() {
  master m --mode averaging --workers 2 --epochs 3 --frequency 4 \
    --min-workers 2 --update-log keep --checkpoint-every 0s
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
run=m.safetensors.run
check $run
norms_of m.safetensors
mkdir first
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
cmp m.safetensors last.safetensors && echo "same bytes"
! event $run 'replica differs' || fail "a replica differs"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
