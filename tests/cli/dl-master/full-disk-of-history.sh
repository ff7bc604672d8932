#!/bin/bash
# A history that cannot grow: no checkpoint counts on it, and the run does not end with
# success; the same command goes on once it can.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { master --mode averaging --local 1 --threads 1 -q --run r -o m.safetensors --epochs 40 "$@" >/dev/null; }
(ulimit -f 16; train --checkpoint-every 0)
echo $?
ls m.safetensors
train
echo $?
python3 "$DL_TEST_ROOT/tests/cluster/check-events" r
