#!/bin/bash
# A large checkpoint is written beside the master's loop.  The master dies before
# it is there, when rounds after it are in the log already: the same command goes
# on from the checkpoint before it, and the model has the bytes of a calm run.
limit=120
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
rm train-00[123].dls
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.01},
  "layers": [
    {"type": "dense", "units": 4100, "activation": "relu"},
    {"type": "dense", "units": 4100, "activation": "relu"},
    {"type": "output", "units": 3, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
train() {
  master m --mode averaging --workers 1 --epochs 1 --frequency 2 --min-workers 1 \
    --checkpoint-batches 4
}
pair() {
  train
  worker a m
  finish m
  finish a
}

mkdir calm rough
for each in calm rough; do cp ./*.dls net.json $each; done
cd calm || exit
pair
check m.safetensors.run
cd ../rough || exit
# The second checkpoint never comes.
DL_FAILPOINTS='master.before_checkpoint=spin@2;master.after_commit=kill@4' train
worker a m
finish m
find m.safetensors.run -name 'checkpoint-*' | wc -l
train
finish m
finish a
check m.safetensors.run
event m.safetensors.run '"event":"resume"' || fail "it did not resume"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
