#!/bin/bash
# A start that is refused leaves neither a run directory nor a model, and what
# began without learning anything does not stand in the way of another command.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() {
  dl-master -q --net net.json --data 'train-*.dls' --batch 8 -o m.safetensors \
    "$@" 2>&1
  echo "status $?"
  LC_ALL=C ls -dA m.safetensors* .m.safetensors* 2>/dev/null || :
}
echo '-- nothing is left'
try --bind tcp://127.0.0.1:0 --keys nokeys
try --bind tcp://127.0.0.1
try --bind tcp://192.0.2.1:7000 --insecure
try --local 1 --device tpu
try --local 1 --precision bfloat16
try --local 1 --eval-data net.json
try --local 1 --mode ring
try --local 1 --data "pipe:head -c 300 train-000.dls"
echo '-- what has learnt nothing goes'
try --mode sharing --bind tcp://127.0.0.1:0 --wait 100ms --normalize none
try --local 1 --threads 1 --seed 5 --epochs 2 --normalize auto
dl-infer --model m.safetensors test.dls | wc -l
echo '-- what has learnt stays'
try --local 1 --threads 1 --seed 6
