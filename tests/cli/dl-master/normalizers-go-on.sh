#!/bin/bash
# By default a run goes on with the normalizers that it began with, which another
# version may have chosen in another way; others that are asked for are refused.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master -q --normalize none --local 1 -o m.safetensors || exit
master --local 1 -o m.safetensors 2>&1 | grep -c finished
master --normalize standardize --local 1 -o m.safetensors
