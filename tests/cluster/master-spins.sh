#!/bin/bash
# A master whose loop stands still says at what, and ends so that it can be run
# again; the same command goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_LOST_AFTER=300ms DL_MASTER_HEARTBEAT=50ms
make_data
# Defaults of dl-worker, such as a stale file, are not for local workers.
export DL_WORKER_MASTER_FILE=stale.json DL_WORKER_THREADS=nonsense
start() {
  run "$1" dl-master --net net.json --data 'train-*.dls' --batch 10 --local 1 \
    --normalize standardize --epochs 2 -o m.safetensors
}
DL_FAILPOINTS='master.spin=spin@3' start spins
finish spins
grep -o "the master has stood still for .*, looking after.*" spins.err |
  sed 's/for [0-9.]* s/for N s/'
start again
finish again
check m.safetensors.run
