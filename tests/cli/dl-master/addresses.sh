#!/bin/bash
# An address replaces no file, is one, and is left to whoever has it already.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() {
  master -q -o m.safetensors --wait 100ms --bind "$1"
  echo "status $?"
}
sha256sum train-000.dls >before
try ipc://train-000.dls
sha256sum --quiet -c before
try 'tcp://127.0.0.1:0;127.0.0.1:0'
echo '-- in use'
dl-master -q --net net.json --data 'train-*.dls' -o other.safetensors --wait 30s \
  --bind ipc://socket --master-file other.json 2>other.err &
until [ -s other.json ]; do sleep 0.02; done
try ipc://socket
kill "$!"
wait "$!"
[ ! -e socket ] || echo 'the socket stays behind'
echo '-- left behind by who was killed'
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
try ipc://socket
[ ! -e socket ] || echo 'the socket stays behind'
echo '-- a name with what parts addresses'
master -q -o 'a;b.safetensors' --local 1 --epochs 1
echo "status $?"
