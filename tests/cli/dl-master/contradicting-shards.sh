#!/bin/bash
# Shards of another data set among ours.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
printf '1,2,x\n3,4,y\n' |
  dl-preprocess csv --label 3 --no-provenance -o train-other.dls
master -o m.safetensors
