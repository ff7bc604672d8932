#!/bin/bash
# A loss that is not finite is not sent: the mini-batch is reported, done again
# and counted once, and the model stays finite.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging sync; do
  master "$mode" --mode "$mode" --epochs 2 --min-workers 2
  DL_FAILPOINTS=worker.nan=nan@5 worker a "$mode"
  worker b "$mode"
  finish "$mode"
  finish a
  finish b
  check "$mode.safetensors.run"
  grep -o "the loss is not finite; not sent" a.err
  event "$mode.safetensors.run" '"event":"fault".*not finite' ||
    fail "no fault in the history"
done

# Data that makes every loss NaN ends the run with a sentence.
make-dataset 400 20 1 nan >nan.dls
run bad dl-master --net net.json --batch 10 --data nan.dls --normalize none \
  --bind tcp://127.0.0.1:0 --master-file bad.json -o bad.safetensors
worker a bad
finish bad
finish a
said bad.err "has a value of nan" || fail "the record is not named"
[ ! -e bad.safetensors ] || fail "a model was written"
