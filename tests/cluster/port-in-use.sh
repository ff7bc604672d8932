#!/bin/bash
# A port that is taken: one sentence and 69.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master first --epochs 1
await "the first master" test -s first.json
endpoint=$(sed 's/.*"endpoint": *"\([^"]*\)".*/\1/' first.json)
run second dl-master --net net.json --data 'train-*.dls' -o second.safetensors \
  --bind "$endpoint"
finish second
grep -o "cannot bind.*" second.err | sed 's/:[0-9][0-9]*/:PORT/'
worker a first
finish first
finish a
