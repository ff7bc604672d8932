#!/bin/bash
# --speculate: what a slow worker has is given to another as well.  The first
# result counts, the model is the same, and every example counts once.
limit=100
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
make-dataset 240 10 2 learnable >held.dls
# train NAME DELAY OPTION...: three workers, one of which is so slow.
train() {
  local name=$1 delay=$2 w
  shift 2
  master "$name" --epochs 3 --min-workers 3 \
    --lost-after 20s --eval-data held.dls "$@"
  DL_FAILPOINTS="worker.after_batch=sleep:$delay" worker "$name-slow" "$name"
  for w in b c; do worker "$name-$w" "$name"; done
  finish "$name"
  for w in slow b c; do finish "$name-$w"; done
  check "$name.safetensors.run"
}
train calm 0ms --mode averaging --workers 3
train slow 400ms --mode averaging --workers 3 --speculate
train shared 1500ms --mode sharing --combine mean --speculate
cmp calm.safetensors slow.safetensors && echo "same bytes"
for run in slow shared; do
  for kind in train evaluate; do
    event $run.safetensors.run "\"copy_of\":.*\"kind\":\"$kind\"" ||
      fail "$run: no copy to $kind"
  done
  event $run.safetensors.run '"why":"another was first"' ||
    fail "$run: nobody was late"
done
event calm.safetensors.run '"copy_of"' && fail "a copy without --speculate"
true
