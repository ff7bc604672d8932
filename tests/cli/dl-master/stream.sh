#!/bin/bash
# Data from a pipe is kept in the run directory; the model is that of files.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
points 1 120 | dl-preprocess csv --label 4 --classes a,b,c --no-provenance \
  >whole.dls
run() {
  dl-master --net net.json --mode averaging --local 1 --threads 1 -q "$@"
}
run --data whole.dls -o file.safetensors
run --data - -o stream.safetensors <whole.dls
run --data 'pipe:cat whole.dls' -o pipe.safetensors
cmp file.safetensors stream.safetensors && echo same
cmp file.safetensors pipe.safetensors && echo same
ls stream.safetensors.run
