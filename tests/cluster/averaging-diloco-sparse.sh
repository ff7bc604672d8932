#!/bin/bash
# DiLoCo with sparse differences: undisturbed, two runs give the same bytes;
# when a worker dies, what it kept is lost and counted, and every example still
# counts once.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master "$1" --mode averaging --workers 2 --min-workers 2 --epochs 3 \
    --outer diloco --frequency 4 --delta sparse:0.2:4
}
for run in one two; do
  train $run
  worker a $run
  worker b $run
  finish $run
  finish a
  finish b
  check $run.safetensors.run
done
cmp one.safetensors two.safetensors && echo "same bytes"
said one.err histories && fail "a history is lost without need"

train rough
DL_FAILPOINTS=worker.after_batch=kill@7 worker a rough
worker b rough
finish a
finish rough
finish b
check rough.safetensors.run
event rough.safetensors.run '"event":"revoke"' || fail "no lease was lost"
grep -o "^histories.*" rough.err
