#!/bin/bash
# A newest checkpoint that was damaged is passed over.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 1 --threads 1 --epochs 3 -q -o "$@"
}
run want.safetensors
(DL_FAILPOINTS=master.before_model=kill run got.safetensors) >/dev/null 2>&1
ls got.safetensors.run
newest=got.safetensors.run/checkpoint-000003.safetensors
printf X | dd of=$newest bs=1 seek=$(($(stat -c %s $newest) - 5)) \
  conv=notrunc status=none
run got.safetensors
cmp want.safetensors got.safetensors && echo same
