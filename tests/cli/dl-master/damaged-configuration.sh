#!/bin/bash
# A run.json in which something is of another kind is damaged, not our bug.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { master -q --local 1 --threads 1 -o m.safetensors "$@"; }
train || exit
cp m.safetensors.run/run.json whole.json
for change in '.data = 5' '.settings = []' '.data.training = "x"' \
  '.data.training[0] = 3' '.network = null'; do
  jq "$change" whole.json >m.safetensors.run/run.json
  train --epochs 2
  echo "status $?"
done
# Nor is it waited for what a FIFO may say.
rm m.safetensors.run/run.json
mkfifo m.safetensors.run/run.json
train --epochs 2
echo "status $?"
