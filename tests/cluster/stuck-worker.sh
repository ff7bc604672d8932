#!/bin/bash
# Workers whose compute threads spin still beat; their leases are given to
# another all the same, and they end: one by itself after its time of grace when
# the run is over, one at once by a second signal.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 2 --min-workers 3 --stuck-after 1s
DL_FAILPOINTS=worker.after_batch=spin@3 DL_GRACE=1s worker a m
DL_FAILPOINTS=worker.after_batch=spin@3 worker c m
worker b m
finish m
finish b
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was revoked"
finish a
said a.err "grace period is over" || fail "why it ended is not said"
kill -TERM "${pid[c]}"
kill -TERM "${pid[c]}"
finish c
