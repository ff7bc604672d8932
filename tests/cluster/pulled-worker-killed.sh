#!/bin/bash
# Averaging of a network so large that the master pulls its Results: a
# worker dies while its Result is pulled, another does its work, and the model
# has the same bytes as one of an undisturbed run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_LOST_AFTER=10m
make_data
rm train-00[123].dls  # few rounds
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.05},
  "layers": [
    {"type": "dense", "units": 1100, "activation": "relu"},
    {"type": "dense", "units": 1000, "activation": "relu"},
    {"type": "output", "units": 3, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
train() {
  master m --mode averaging --workers 2 --min-workers 2 --epochs 2
}
calm_run
check ../calm/m.safetensors.run

train
DL_FAILPOINTS=worker.before_slice=kill@7 worker a m
worker b m
for w in a m b; do finish "$w"; done
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was lost"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "averaging: same bytes"
