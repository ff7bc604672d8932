#!/bin/bash
# Inputs without an example are no success, of dl-infer and of dl-eval, and no output is
# written; one among others is.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --local 1 --threads 1 -q --epochs 1 -o m.safetensors >/dev/null
make-dataset 0 >empty.dls
cp empty.dls none.dls
try() {
  "$@" >out
  echo "status $?, $(wc -l <out) lines"
}
try dl-infer --model m.safetensors empty.dls
try dl-infer --model m.safetensors --format dls -o out.dls empty.dls none.dls
dl-preprocess csv --label 4 --classes a,b,c --no-provenance -o some.dls <<<1,2,3,a
try dl-eval --model m.safetensors --local 2 empty.dls none.dls
try dl-infer --model m.safetensors none.dls -o out.dls <empty.dls
ls out.dls 2>/dev/null
try dl-infer --model m.safetensors test.dls empty.dls
