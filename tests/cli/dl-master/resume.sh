#!/bin/bash
# Killed again and again, an averaging run gives the same bytes.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 2 --threads 1 --epochs 3 --frequency 2 -q \
    --checkpoint-batches 4 -o "$@"
}
run want.safetensors
run got.safetensors &
wait $!
rm -r got.safetensors got.safetensors.run
for place in master.after_lease=kill@2 master.after_commit=kill@3 \
  master.before_checkpoint=kill@2 master.after_checkpoint=kill \
  master.before_model=kill; do
  (DL_FAILPOINTS=$place run got.safetensors) >/dev/null 2>&1
  echo "$place $?"
done
run got.safetensors 2>/dev/null
echo $?
cmp want.safetensors got.safetensors && echo same
(cd got.safetensors.run && printf '%s\n' *) | sed 's/[0-9]\{6,12\}/N/'
