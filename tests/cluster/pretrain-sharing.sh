#!/bin/bash
# Stages of pretraining in sharing: remote workers stay for all of them, and
# what one stage learnt is in the next to the last bit.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
scaling=(--normalize minmax)
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.05},
  "layers": [
    {"type": "autoencoder", "name": "low", "units": 8},
    {"type": "autoencoder", "name": "high", "units": 4},
    {"type": "output", "name": "end", "units": 3,
     "loss": "negative_log_likelihood"}] }
JSON
master m --mode sharing --epochs 1 --pretrain 1 --min-workers 2
worker a m
worker b m
finish m
finish a
finish b
for run in m.safetensors.run/pretrain-1-low m.safetensors.run/pretrain-2-high \
  m.safetensors.run; do
  check $run
  field_of_events $run '{"event": "join"}' name | sort
done
cd m.safetensors.run || exit
compare_tensors pretrain-1-low.safetensors pretrain-2-high.safetensors
compare_tensors pretrain-2-high.safetensors pretrained-2.safetensors
