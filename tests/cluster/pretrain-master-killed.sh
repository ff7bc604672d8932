#!/bin/bash
# Stages of pretraining: the master dies in each of them and in what follows,
# the identical command goes on there, remote workers come back every time, and
# the model has the same bytes as an undisturbed one.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "adam", "learning_rate": 0.05},
  "layers": [
    {"type": "autoencoder", "name": "low", "units": 8},
    {"type": "autoencoder", "name": "high", "units": 4, "corruption": 0.1},
    {"type": "output", "units": 3, "loss": "negative_log_likelihood"}] }
JSON
scaling=(--normalize minmax)
train() {
  master m --mode averaging --workers 2 --epochs 2 --pretrain 2 --frequency 4 \
    --min-workers 2 --checkpoint-batches 16
}
run=m.safetensors.run
runs=("$run/pretrain-1-low" "$run/pretrain-2-high" "$run")

calm_run

# A stage has 20 commits.
for commits in 10 20 20; do
  DL_FAILPOINTS=master.after_commit=kill@$commits train
  [ -v 'pid[a]' ] || { worker a m; worker b m; }
  finish m
  for of in "${runs[@]}"; do
    event "$of" '"event":"start"' 2>/dev/null && echo "begun: $of"
  done
done
train
finish m
finish a
finish b
for of in "${runs[@]}"; do
  check "$of"
  event "$of" '"event":"resume"' && echo "resumed: $of"
done
field_of_events "$run/pretrain-2-high" '{"event": "start"}' stage
said "$run/pretrain-2-high/run.json" '"stage": "high"' ||
  fail "the stage is not in run.json"
cd ..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
