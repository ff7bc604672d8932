#!/bin/bash
# A stream is kept in the run directory; it replaces no input, and nothing of a
# run that does not take it.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
quick=(-q --net net.json --batch 8 --local 1 --threads 1 -o m.safetensors)
dl-master "${quick[@]}" --data - <train-000.dls || exit 1
cp m.safetensors.run/data-train-0.dls want
try() {
  dl-master "${quick[@]}" "$@" 2>&1
  echo "status $?"
  cmp m.safetensors.run/data-train-0.dls want
  find m.safetensors.run -name '.*'
}
echo '-- an input of the run'
try --data m.safetensors.run/data-train-0.dls --data - <train-001.dls
try --data m.safetensors.run/data-train-0.dls --eval-data 'pipe:cat test.dls'
echo '-- other data'
try --data - <train-001.dls
try --data 'pipe:cat train-002.dls train-003.dls'
echo '-- the same'
try --data - --epochs 2 <train-000.dls
echo '-- standard input twice'
try --data - --eval-data - <train-000.dls
dl-master -q --net - --data - --local 1 -o n.safetensors <train-000.dls
echo "status $?"
