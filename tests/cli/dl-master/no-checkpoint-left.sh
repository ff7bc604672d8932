#!/bin/bash
# A run whose checkpoints are gone, and whose update log does not go back to the
# start, is not begun anew under its name.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 1 --threads 1 --epochs 3 -q \
    --checkpoint-every 0s -o m.safetensors
}
(DL_FAILPOINTS=master.before_model=kill run) >/dev/null 2>&1
rm m.safetensors.run/checkpoint-*
cksum m.safetensors.run/*.log >before
run
echo $?
cksum m.safetensors.run/*.log | cmp before - && echo 'its log is as it was'
[ -e m.safetensors ] || echo 'no model'
