#!/bin/bash
# Sharing, sequences that are trained in segments: a worker and the master die,
# and the update log rebuilds the model to the byte.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_sequence_data
train() {
  master m --mode sharing --epochs 4 --min-workers "$1" --update-log keep \
    --checkpoint-every 0s
}
DL_FAILPOINTS=master.after_log=kill@30 train 3
worker a m
worker b m
DL_FAILPOINTS=worker.after_batch=kill@3 worker c m
finish c
finish m
train 2
finish m
finish a
finish b
run=m.safetensors.run
check $run
event $run '"event":"resume".*"version":30' || fail "updates were lost"
mkdir first
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
cmp m.safetensors last.safetensors && echo "same bytes"
dl-master --net net.json --data 'train-*.dls' --mode sharing --share gradient \
  -o g.safetensors
echo $?
