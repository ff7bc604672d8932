#!/bin/bash
# --mode auto with a worker of its own: that dies again and again, and the master
# once; the model has the same bytes as one of an undisturbed run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_MODE=auto
make_data
train() {
  run m dl-master --net net.json --data 'train-*.dls' --batch 10 \
    --normalize standardize --local 1 --threads 1 --epochs 2 \
    --checkpoint-batches 5 -o m.safetensors
}
mkdir calm
cp ./*.dls net.json calm
cd calm || exit
train
finish m
check m.safetensors.run
cd ..

DL_FAILPOINTS=worker.after_batch=kill@13 train
finish m
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was lost"
cmp calm/m.safetensors m.safetensors && echo "same bytes"
rm -r m.safetensors*

DL_FAILPOINTS=master.after_commit=kill@7 train
finish m
train
finish m
check m.safetensors.run
event m.safetensors.run '"event":"resume"' || fail "it did not resume"
cmp calm/m.safetensors m.safetensors && echo "same bytes"
