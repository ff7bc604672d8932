#!/bin/bash
# Averaging, sequences that are trained in segments with an update each: a
# worker dies, then the master, and the model has the same bytes as one of an
# undisturbed run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_sequence_data
train() {
  master m --mode averaging --workers 2 --epochs 4 --frequency 2 \
    --min-workers 2 --checkpoint-batches 8 --eval-data 'train-*.dls'
}
calm_run
check ../calm/m.safetensors.run

DL_FAILPOINTS=master.after_commit=kill@9 train
DL_FAILPOINTS=worker.after_batch=kill@5 worker a m
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
scores_of calm/m.safetensors.run >calm.scores
scores_of rough/m.safetensors.run >rough.scores
cmp calm.scores rough.scores && echo "same scores"
# The workers' loss of the steps is that of dl-eval.
dl-eval --model calm/m.safetensors --json 'calm/train-*.dls' >eval.json ||
  fail "dl-eval"
python3 - calm.scores eval.json <<'PY'
import json, sys
ours = json.load(open(sys.argv[2]))["evaluations"][0]["metrics"]
print("accuracy", ours["accuracy"] > 0.6, f"{ours['accuracy']:.4f}"[:6] in open(sys.argv[1]).read())
PY
