#!/bin/bash
# A newest checkpoint that was damaged is passed over; so are all, if the update
# log goes back to the start.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 1 --threads 1 --epochs 3 -q --update-log "$log" \
    --checkpoint-every "$every" -o "$@"
}
log=prune every=0s
run want.safetensors
(DL_FAILPOINTS=master.before_model=kill run got.safetensors) >/dev/null 2>&1
ls got.safetensors.run
damage() {
  printf X | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 5)) conv=notrunc \
    status=none
}
damage got.safetensors.run/checkpoint-000004.safetensors
run got.safetensors
cmp want.safetensors got.safetensors && echo same
rm -r got.safetensors*
log=keep every=5m
run got.safetensors
rm got.safetensors
for file in got.safetensors.run/checkpoint-*; do damage "$file"; done
# It cannot be replayed yet: the log does not say what the network began with.
dl-master -q --replay got.safetensors.run --list
echo $?
run got.safetensors
cmp want.safetensors got.safetensors && echo same
log=none
rm -r got.safetensors*
run got.safetensors
rm got.safetensors
for file in got.safetensors.run/checkpoint-*; do damage "$file"; done
run got.safetensors
echo $?
rm got.safetensors.run/checkpoint-*
run got.safetensors
cmp want.safetensors got.safetensors && echo same
