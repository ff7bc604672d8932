#!/bin/bash
# The loss of a run's best model is reported, not passed over.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  dl-master -q --net net.json --data 'train-*.dls' --eval-data test.dls \
    --batch 8 --mode averaging --local 1 --threads 1 --keep best --epochs 3 \
    -o m.safetensors 2>&1
  echo "status $?"
}
run
cp m.safetensors want
echo '-- the model is still there'
rm m.safetensors.run/best.safetensors
run
cmp want m.safetensors && echo same
echo '-- it is not'
rm m.safetensors
run
[ -s m.safetensors ] && echo written
echo '-- it is of another network'
sed 's/"units": 8/"units": 9/' net.json >other.json
dl-master -q --net other.json --data 'train-*.dls' --local 1 --threads 1 \
  -o m.safetensors.run/../other.safetensors
cp other.safetensors m.safetensors.run/best.safetensors
rm m.safetensors
run
cmp -s other.safetensors m.safetensors && echo 'the other one'
echo '-- of a run that goes on'
rm -r m.safetensors*
train() {
  dl-master -q --net net.json --data 'train-*.dls' --eval-data test.dls \
    --batch 8 --mode averaging --local 1 --threads 1 --keep best --epochs 4 \
    --checkpoint-batches 1 --update-log none -o m.safetensors
}
(DL_FAILPOINTS=master.after_commit=kill@12 train; :) >/dev/null 2>&1
rm m.safetensors.run/best.safetensors
train 2>&1
echo "status $?"
[ -s m.safetensors ] && echo written
