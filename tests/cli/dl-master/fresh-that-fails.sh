#!/bin/bash
# --fresh removes the earlier run only when all that can fail has been checked.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
here=(--local 1 --threads 1)
run() { dl-master -q --batch 8 "${here[@]}" -o m.safetensors "$@"; }
run --net net.json --data 'train-*.dls' --epochs 2 --patience 5 || exit 1
files() { (cd m.safetensors.run && sha256sum run.json events.jsonl best* check* updates*); }
files >before
try() {
  run --fresh "$@"
  echo "status $?"
  files | cmp - before || echo "the run is not what it was"
}
sed 's/"shape": \[3\]/"shape": [4]/' net.json >four.json
net=(--net net.json)
data=(--data 'train-*.dls')
echo '-- inputs that are missing'
try --net net.jsn "${data[@]}"
try "${net[@]}" --data train-9.dls
try "${net[@]}" --data 'tain-*.dls'
try --init no.safetensors "${data[@]}"
try "${net[@]}" "${data[@]}" --eval-data tst.dls
echo '-- inputs that do not fit'
try --net four.json "${data[@]}"
try --net net.json --data net.json
try "${net[@]}" "${data[@]}" --normalize scle
try "${net[@]}" "${data[@]}" --mode ring
try "${net[@]}" --data "pipe:head -c 300 train-000.dls"
echo '-- addresses and files that cannot be had'
here=()
try "${net[@]}" "${data[@]}" --bind tcp://127.0.0.1:0 --keys nokeys
try "${net[@]}" "${data[@]}" --bind tcp://192.0.2.1:7000 --insecure
here=(--local 1 --threads 1)
try "${net[@]}" "${data[@]}" --keys nokeys
try "${net[@]}" "${data[@]}" --master-file no/m.json
echo '-- inputs in the run directory'
try --init m.safetensors.run/best.safetensors "${data[@]}"
ln -s m.safetensors.run link
try --init link/best.safetensors "${data[@]}"
echo '-- it starts over'
run --fresh "${net[@]}" --data - --data train-001.dls <train-000.dls ||
  exit 1
(cd m.safetensors.run && ls) | sed 's/-[0-9]*[.]log/-N.log/'
