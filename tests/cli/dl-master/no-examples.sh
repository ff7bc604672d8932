#!/bin/bash
# Nothing to train on is an error, never a success.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
make-dataset 0 >empty.dls
dl-master --net net.json --data empty.dls -o m.safetensors
