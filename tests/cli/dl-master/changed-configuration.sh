#!/bin/bash
# A run goes on with its own configuration only; --fresh starts another.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  master --mode averaging --local 1 --threads 1 -q -o m.safetensors "$@"
  echo $?
}
run
run --seed 4
sed -i 's/"units": 8/"units": 9/' net.json
run
run --fresh
rm train-003.dls
run
