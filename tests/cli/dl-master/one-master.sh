#!/bin/bash
# A second master in the same run directory is kept out.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
dl-master --net net.json --data "train-*.dls" --mode sharing --batch 8 -q -o m.safetensors \
  --bind tcp://127.0.0.1:0 --master-file f.json &
pid=$!
until [ -s f.json ]; do
  kill -0 $pid || exit 1
  sleep 0.02
done
master --mode sharing -o m.safetensors 2>&1 | sed "s/process $pid on .*/process of the first/"
echo "${PIPESTATUS[0]}"
kill -TERM $pid
wait $pid
echo $?
