#!/bin/bash
# Every wait has a limit.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --mode sharing --bind tcp://127.0.0.1:0 --wait 300ms --min-workers 2 -o m.safetensors
