#!/bin/bash
# A correction in many shards is reported once, with their number.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
points 1 120 | dl-preprocess csv --label 4 --classes c,a,b --no-provenance |
  dl-shard -q -n 3 -o turned --no-provenance >/dev/null
dl-master -q --net net.json --data train-000.dls --data 'turned-*.dls' \
  --mode averaging --local 1 --epochs 1 -o m.safetensors
dl-master -q --net net.json --data train-000.dls --data turned-000.dls \
  --mode averaging --local 1 --epochs 1 -o n.safetensors
