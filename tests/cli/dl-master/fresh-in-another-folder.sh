#!/bin/bash
# Only the folder of a run is one: files of others stay, with --fresh or not.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
quick=(-q --net net.json --data 'train-*.dls' --batch 8 --local 1 --threads 1)
try() {
  dl-master "${quick[@]}" "$@" 2>&1
  echo "status $?"
}
files() { (cd mine && LC_ALL=C sha256sum -- *); }
for name in data-train-0.dls best.safetensors events.jsonl run.json \
  updates-000000000000.log checkpoint-000001.safetensors; do
  mkdir mine
  echo '{"mine": 1}' >mine/$name
  files >before
  try --run mine -o m.safetensors
  try --run mine -o m.safetensors --fresh
  files | cmp - before && echo kept
  rm -r mine
done
echo '-- names that no run writes'
mkdir mine
touch mine/data-a.dls mine/best.txt mine/events mine/updates-x.log
files >before
try --run mine -o m.safetensors
try --run mine -o m.safetensors --fresh
(cd mine && sha256sum --quiet -c ../before) && echo kept
