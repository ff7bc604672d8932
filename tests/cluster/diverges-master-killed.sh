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
  if [ $visit = 2 ]; then
    # Only the log has it: the next start saves it before all else, for logs
    # are pruned.
    DL_FAILPOINTS=master.after_checkpoint=kill again
    finish killed2
    saved=$(field_of_events killed2.safetensors.run '{"event":"setback"}' version)
  fi
  again
  finish killed$visit >ended
  grep -q 'status 79' ended && fail "it stopped"
  finish killed$visit-a >>ended
  finish killed$visit-b >>ended
  sort -u ended | sed 's/.*status/all: status/' | sort -u
  check killed$visit.safetensors.run
  event killed$visit.safetensors.run '"event":"resume"' || fail "no resume"
  [ $visit != 2 ] ||
    field_of_events killed2.safetensors.run '{"event":"resume","replayed":0}' \
      version | grep -qx "$saved" || fail "it goes on from another step"
done
