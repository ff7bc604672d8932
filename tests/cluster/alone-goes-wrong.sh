#!/bin/bash
# --mode auto with a worker of its own: a damaged record costs its shard, one that
# kills whoever reads it another, and a learning rate that is too high is made
# smaller; the log gives the model that the run ended with.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_MODE=auto
train() { # NAME NORMALIZE OPTION...
  local name=$1 kind=$2
  shift 2
  run "$name" dl-master --net net.json --data 'train-*.dls' --batch 10 \
    --normalize "$kind" --local 1 --threads 1 -o "$name.safetensors" "$@"
  finish "$name"
}
make_diverging
train diverges none --epochs 30
check diverges.safetensors.run
event diverges.safetensors.run '"event":"setback"' || fail "no event"
dl-master -q --replay diverges.safetensors.run -o replayed.safetensors ||
  fail "no replay"
cmp replayed.safetensors diverges.safetensors || fail "the models differ"

rm train-*
make_data
damage train-001.dls # record 2
train damaged standardize --epochs 10
train damaged standardize --epochs 10 --skip-bad-shards 1
check damaged.safetensors.run
DL_FAILPOINTS='worker.record=kill#18' train deadly standardize --epochs 10 \
  --skip-bad-shards 2 --restarts 10
check deadly.safetensors.run
grep -ho 'left out: .*' ./*.err | sed "s|'/[^']*/|'|g"
