#!/bin/bash
# Training goes wrong, and the master is killed before it goes back, when that is
# in its log, and when there is a checkpoint of it: it comes to the same.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"

# 400 points, above a line or below it: 40 mini-batches an epoch.
awk -v OFS=, 'BEGIN {
  print "x", "y", "z", "label"
  for (i = 0; i < 400; ++i) {
    x = ((i * 7919) % 2003) / 1000 - 1
    y = ((i * 104729) % 1009) / 500 - 1
    print x, y, x * y, (x + y > 0.1)
  } }' >points.csv
dl-preprocess csv --header --label label --classes 0,1 --no-provenance points.csv |
  dl-shard -q --batch 20 -n 4 -o train || fail "dl-shard"
rm points.csv
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": {"schedule": "map",
    "values": {"0": 0.2, "400": 100}}},
  "layers": [
    {"type": "dense", "units": 8, "activation": "relu"},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON

again() {
  master killed$visit --mode sharing --epochs 40 --min-workers 2 \
    --combine sum --checkpoint-batches 60
}
for visit in 1 2 3; do
  DL_FAILPOINTS=master.setback=kill@$visit again
  worker killed$visit-a killed$visit
  worker killed$visit-b killed$visit
  finish killed$visit
  again
  finish killed$visit >ended
  finish killed$visit-a >>ended
  finish killed$visit-b >>ended
  sort -u ended | sed 's/.*status/all: status/' | sort -u
  check killed$visit.safetensors.run
  event killed$visit.safetensors.run '"event":"resume"' || fail "no resume"
done
