#!/bin/bash
# Data of another shape than the network's input.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
sed -i 's/"shape": \[3\]/"shape": [5]/' net.json
master -o m.safetensors
