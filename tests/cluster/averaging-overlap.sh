#!/bin/bash
# Rounds that overlap: the result does not depend on who was fast, nor on how
# many workers there are; a worker that dies costs no example, and a master that
# is stopped goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode averaging --workers 3 --epochs 3 --frequency 3 \
    --overlap "$@"
}
calm() {
  train --min-workers "$#"
  for name; do worker "$name" m; done
  finish m
  for name; do finish "$name"; done
  check m.safetensors.run
  mv m.safetensors "$1.calm"
  rm -r m.safetensors.run m.json
}
calm a b c
calm d
cmp a.calm d.calm && echo "same bytes"

DL_FAILPOINTS=master.after_commit=kill@20 train --min-workers 3 \
  --checkpoint-batches 9
DL_FAILPOINTS=worker.after_batch=kill@8 worker a m
worker b m
worker c m
finish a
finish m
train --min-workers 2
finish m
finish b
finish c
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was lost"
