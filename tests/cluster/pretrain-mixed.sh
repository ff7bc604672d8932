#!/bin/bash
# Stages of pretraining with workers that the master starts and others: the former are
# started anew in each, the latter stay for all of them.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
scaling=(--normalize minmax)
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.05},
  "layers": [
    {"type": "autoencoder", "name": "low", "units": 8},
    {"type": "output", "name": "end", "units": 3,
     "loss": "negative_log_likelihood"}] }
JSON
master m --mode averaging --epochs 1 --pretrain 1 --min-workers 2 --local 1
worker a m
finish m
finish a
for run in m.safetensors.run/pretrain-1-low m.safetensors.run; do
  check $run
  field_of_events $run '{"event": "join"}' name | sort
done
