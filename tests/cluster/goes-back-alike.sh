#!/bin/bash
# Training that goes wrong goes back to the same place, and ends with the same model,
# whenever checkpoints were written.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
train() { # NAME OPTION...
  local name=$1
  shift
  run "$name" dl-master --net net.json --data 'train-*.dls' --batch 10 --epochs 30 \
    --normalize none --local 1 --threads 1 -o "$name.safetensors" "$@"
  finish "$name"
  event "$name.safetensors.run" '"event":"setback"' || fail "$name: no setback"
}
make_diverging
for mode in sharing sync; do
  train "$mode" --mode "$mode"
  for batches in 40 60; do
    train "$mode-$batches" --mode "$mode" --checkpoint-batches "$batches"
    cmp "$mode.safetensors" "$mode-$batches.safetensors" && echo "same bytes"
  done
done
