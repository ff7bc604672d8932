#!/bin/bash
# A run that ends after the default number of epochs says so; what goes on with
# it does, too.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
last() { master --local 1 --threads 1 -o m.safetensors "$@" 2>&1 | grep . | tail -n 1; }
last
last --epochs 2 | sed 's/[0-9]*\.safetensors$/N/'
last --epochs 1 --fresh | sed 's/[0-9]*\.safetensors$/N/'
