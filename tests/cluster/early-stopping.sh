#!/bin/bash
# A run ends before its epochs when the target is reached, or when nothing gets
# better any more.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master target --epochs 500 --eval-data train-000.dls \
  --evaluate classification --target accuracy=0.2
worker a target
finish target
finish a
master patience --epochs 500 --eval-data train-000.dls \
  --evaluate classification --metric accuracy --patience 2
worker a patience
finish patience
finish a
for name in target patience; do
  "$DL_TEST_ROOT/tests/cluster/check-events" "$name.safetensors.run" >checked ||
    fail "history of $name"
  grep -q '^500 epochs' checked && fail "$name did not stop early"
  sed -n 's/^examples .*; //p' "$name.err"
  ls "$name.safetensors"
done
