#!/bin/bash
# Averaging: a replica that is not what the Round says is found before it trains,
# sent the State, and changes nothing of the model.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for run in m n; do
  master $run --mode averaging --workers 2 --epochs 3 --min-workers 2
  if [ $run = n ]; then export DL_FAILPOINTS=worker.flip=nan@3; fi
  worker ${run}a $run
  unset DL_FAILPOINTS
  worker ${run}b $run
  for part in $run ${run}a ${run}b; do finish "$part"; done
  check $run.safetensors.run
done
field_of_events n.safetensors.run \
  '{"event": "fault", "why": "its replica differs"}' why
! event m.safetensors.run '"event":"fault"' || fail "a fault"
cmp m.safetensors n.safetensors || fail "the models differ"
