#!/bin/bash
# Two workers behind a line on which the parameters and what comes back of them
# take several times as long as --lost-after: bytes that flow are a sign of life,
# and nobody is lost.
also=tc
. "$DL_TEST_ROOT/tests/cluster/_own_network.sh"
limit=120
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
rm train-00[123].dls  # few rounds
# A megabyte of parameters; the line takes two seconds for it.
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": 0.01},
  "layers": [
    {"type": "dense", "units": 500, "activation": "relu"},
    {"type": "dense", "units": 500, "activation": "relu"},
    {"type": "output", "units": 3, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
lay_line 8mbit 32kb
export DL_MASTER_INSECURE=1 DL_WORKER_INSECURE=1
bind=tcp://10.0.0.1:0
slow() { # NAME OPTION...
  local name=$1 w
  shift
  master "$name" --epochs 1 --min-workers 2 "$@"
  for w in 1 2; do network=${pid[far]} run "$name-$w" dl-worker \
    --master-file "$name.json" --name "$w"; done
  for w in "$name" "$name-1" "$name-2"; do finish "$w"; done
  check "$name.safetensors.run"
  event "$name.safetensors.run" '"event":"lost"' && fail "$name: a worker was lost"
}
slow averaging --mode averaging --workers 2 --frequency 5
slow sync --mode sync --workers 2
event sync.safetensors.run '"event":"round".*"parties":2,' ||
  fail "the workers averaged nothing among themselves"
slow sharing --mode sharing
slay far >/dev/null
