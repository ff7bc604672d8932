#!/bin/bash
# Found before training starts: the run has no checkpoint and no model.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
head -c -4 train-002.dls >cut.dls
mv cut.dls train-002.dls
master -o m.safetensors; echo $?
: >train-002.dls
master -o m.safetensors; echo $?
ls m.safetensors* 2>/dev/null || echo nothing
