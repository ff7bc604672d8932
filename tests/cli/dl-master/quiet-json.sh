#!/bin/bash
# --json writes one line and nothing else; a closed standard output is an error.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --mode averaging --local 1 --threads 1 -q --json -o a.safetensors | wc -l
master --mode averaging --local 1 --threads 1 -q --json -o a.safetensors >/dev/full
