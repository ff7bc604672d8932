#!/bin/bash
# --fresh removes the earlier run once its local workers have their device.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  dl-master -q --net net.json --data 'train-*.dls' --batch 8 --threads 1 \
    -o m.safetensors "$@"
}
run --local 1 || exit 1
files() { sha256sum m.safetensors m.safetensors.run/[!l]*; }
files >before
run --fresh --local 2 --device cuda:99 >said 2>&1
echo "status $?"
files | cmp - before && echo kept
# One sentence a worker, and the master's.
sort -u said | sed 's/: .*cuda.*/: .../'
