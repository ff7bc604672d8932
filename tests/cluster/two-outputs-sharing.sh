#!/bin/bash
# Sharing, a graph of two inputs and two outputs: a worker and the master die,
# the command goes on, and the update log rebuilds the model to the byte.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_graph_data
train() {
  master m --mode sharing --epochs 3 --min-workers "$1" --update-log keep \
    --checkpoint-every 0s --eval-data 'held-*.dls'
}
DL_FAILPOINTS=master.after_log=kill@55 train 3
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
event $run '"event":"resume".*"version":55' || fail "updates were lost"
dl-master --replay $run --list
mkdir first
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
cmp m.safetensors last.safetensors && echo "same bytes"
scores_of $run | wc -l
