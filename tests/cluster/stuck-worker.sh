#!/bin/bash
# A worker whose compute thread spins still beats; its lease is given to
# another all the same.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 2 --min-workers 2 --stuck-after 1s
DL_FAILPOINTS=worker.after_batch=spin@3 worker a m
worker b m
finish m
finish b
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was revoked"
kill -TERM "${pid[a]}"
kill -TERM "${pid[a]}"
finish a
