#!/bin/bash
# A newest checkpoint that was damaged is passed over; so is the only one, if the
# update log goes back to the start.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 1 --threads 1 --epochs 3 -q --update-log "$log" \
    --checkpoint-every "$every" -o "$@"
}
log=prune every=0s
run want.safetensors
(DL_FAILPOINTS=master.before_model=kill run got.safetensors) >/dev/null 2>&1
ls got.safetensors.run
newest=got.safetensors.run/checkpoint-000003.safetensors
size=$(stat -c %s $newest)
printf X | dd of=$newest bs=1 seek=$((size - 5)) \
  conv=notrunc status=none
run got.safetensors
cmp want.safetensors got.safetensors && echo same
rm -r got.safetensors*
every=5m
run got.safetensors
rm got.safetensors
printf X | dd of=got.safetensors.run/checkpoint-000001.safetensors bs=1 \
  seek=$((size - 5)) conv=notrunc status=none
# It cannot be replayed yet: the log does not say what the network began with.
dl-master -q --replay got.safetensors.run --list
echo $?
run got.safetensors
cmp want.safetensors got.safetensors && echo same
log=none
rm -r got.safetensors*
run got.safetensors
rm got.safetensors
printf X | dd of=got.safetensors.run/checkpoint-000001.safetensors bs=1 \
  seek=$((size - 5)) conv=notrunc status=none
run got.safetensors
echo $?
