#!/bin/bash
# A finished run writes its model again where another file lies in its place.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  dl-master -q --net net.json --data 'train-*.dls' --batch 8 --mode averaging \
    --local 1 --threads 1 -o m.safetensors "$@" 2>&1
  echo "status $?"
}
check() { cmp "$1" m.safetensors && echo same; }
run
cp m.safetensors want
echo '-- it is there'
run; check want
echo '-- it is gone'
rm m.safetensors
run; check want
echo '-- something else, and younger'
for what in "echo garbage" "head -c 500 want" "cat test.dls"; do
  $what >m.safetensors
  run; check want
done
echo '-- the model of another run'
run --seed 9 --run other.run
run; check want
echo '-- an older one, after --fresh and a death before the last write'
(DL_FAILPOINTS=master.before_model=kill@1 run --fresh --seed 9 >died 2>&1)
touch m.safetensors
run --seed 9
cmp -s want m.safetensors || echo another
echo '-- a write that fails'
full() {
  dl-master -q --net net.json --data 'train-*.dls' --batch 8 --mode averaging \
    --local 1 --threads 1 --run full.run -o "$1" 2>&1
  echo "status $?"
}
full /dev/full
full /dev/full
full full
cmp want full && echo same
