#!/bin/bash
# Sharing with --staleness 0: two runs of three processes give equal models,
# with a check of replicas in the middle of epochs; and an asynchronous run of
# bounded staleness keeps to its bound.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for run in m n; do
  master $run --mode sharing --epochs 2 --min-workers 3 --staleness 0 \
    --threshold quantile:0.05 --agree-every 7
  for w in a b c; do worker $run$w $run; done
  finish $run
  check $run.safetensors.run
done
cmp m.safetensors n.safetensors || fail "the models differ"
grep -c '"event":"round"' m.safetensors.run/events.jsonl
! event m.safetensors.run 'replica differs' || fail "a replica differs"

master s --mode sharing --epochs 2 --min-workers 3 --staleness 1 --json
for w in a b c; do worker s$w s; done
finish s
check s.safetensors.run
# The others may do the round before, the same and the next one meanwhile.
python3 -c '
import json
staleness = json.load(open("s.out"))["staleness"]
assert staleness["updates"] == 80 and staleness["max"] < 9, staleness
' || fail "staleness"
