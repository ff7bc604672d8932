#!/bin/bash
# Each mistake ends with a sentence and 64.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() { dl-master --net net.json --data 'train-*.dls' -o m.safetensors "$@"; echo $?; }
dl-master; echo $?
dl-master --net net.json -o m; echo $?
dl-master --net net.json --data train-000.dls; echo $?
try --mode ring
try --epochs 0
try --batch -3
try --batch 3x
try --prefetch 1025
try --local -1
try --local 100000 2>&1 | sed "s/0\.\.[0-9]* on [0-9]* cores*/0..MOST/"
try --seed -1
try --threshold 1
try --combine max
try --mode averaging --updater-state maybe
try --mode averaging --overlap --updater-state average
try --mode averaging --outer plain --outer-momentum 0.5
try --evaluate classification
try --metric accuracy
try --eval-data test.dls --metric acuracy
try --eval-data test.dls --target accuracy
try --eval-data test.dls --metric accuracy --target f1_macro=1
try --eval-data test.dls --target accuracy=90
try --target accuracy=0.9
try --keep some
try --heartbeat 5
try --heartbeat 5s --lost-after 4s
try --lost-after 1e9s
try --stuck-after 1e9s
try --heartbeat 2h --lost-after 4h --stuck-after 5h
try --bind tcp://0.0.0.0:0
