#!/bin/bash
# Training goes wrong, and the master is killed before it goes back, when that is
# in its log, and when there is a checkpoint of it: it comes to the same.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_diverging

again() {
  master killed$visit --mode sharing --epochs 40 --min-workers 2 \
    --combine sum --threshold adaptive:1e-3 --checkpoint-batches 60
}
for visit in 1 2 3; do
  DL_FAILPOINTS=master.setback=kill@$visit again
  worker killed$visit-a killed$visit
  worker killed$visit-b killed$visit
  finish killed$visit
  again
  finish killed$visit >ended
  grep -q 'status 79' ended && fail "it stopped"
  finish killed$visit-a >>ended
  finish killed$visit-b >>ended
  sort -u ended | sed 's/.*status/all: status/' | sort -u
  check killed$visit.safetensors.run
  event killed$visit.safetensors.run '"event":"resume"' || fail "no resume"
done
