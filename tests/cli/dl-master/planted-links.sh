#!/bin/bash
# Nothing is written through a link that lies where a run has its files; a run
# directory that is a link of one's own is as good as another.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() {
  dl-master -q --net net.json --data 'train-*.dls' --batch 8 --local 1 "$@" >/dev/null
  echo "status $?"
}
mkdir m.safetensors.run
echo '{"settings":{},"network":{},"format":1}' >m.safetensors.run/run.json
echo precious >target
ln -s ../target m.safetensors.run/lock
try -o m.safetensors
rm m.safetensors.run/lock
ln target m.safetensors.run/lock
chmod 1777 m.safetensors.run
try -o m.safetensors
cat target
mkdir other
ln -s other own.run
try -o m.safetensors --run own.run --epochs 1
mv other/events.jsonl .
ln -s ../events.jsonl other/events.jsonl
try -o m.safetensors --run own.run --epochs 2
