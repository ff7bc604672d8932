#!/bin/bash
# Averaging, a graph of two inputs and two outputs: a worker dies, then the
# master, and the model has the same bytes as one of an undisturbed run; its
# scores are the same whether one worker or three evaluate it.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_graph_data
train() {
  master m --mode averaging --workers 2 --epochs 3 --frequency 4 \
    --min-workers "${1:-2}" --checkpoint-batches 16 --eval-data 'held-*.dls' \
    --evaluate classification --evaluate near=roc --metric near:log_loss
}

calm_run
check ../calm/m.safetensors.run

DL_FAILPOINTS=master.after_commit=kill@15 train
DL_FAILPOINTS=worker.after_batch=kill@7 worker a m
worker b m
finish a
finish m
worker c m
train
finish m
finish b
finish c
check m.safetensors.run
event m.safetensors.run '"event":"resume"' || fail "it did not resume"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"

for count in 1 3; do
  mkdir $count
  cp ./*.dls net.json $count
  cd $count || exit
  train $count
  for ((w = 1; w <= count; w++)); do worker $w m; done
  finish m
  for ((w = 1; w <= count; w++)); do finish $w; done
  cd ..
  cmp calm/m.safetensors $count/m.safetensors && echo "same bytes"
done
for run in calm rough 1 3; do scores_of $run/m.safetensors.run >$run.scores; done
for run in rough 1 3; do cmp calm.scores $run.scores && echo "same scores"; done
wc -l <calm.scores
grep -o '"[a-z]*:[a-z]*": {' calm.scores | sort | uniq -c
