#!/bin/bash
# Sharing: a worker that dies in the middle of an epoch costs no example, and
# the replicas that remain agree with the master at each epoch's end.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --mode sharing --epochs 3 --min-workers 2
DL_FAILPOINTS=worker.after_update=kill@9 worker a m
worker b m
finish a
finish m
finish b
check m.safetensors.run
event m.safetensors.run '"event":"revoke"' || fail "no lease was lost"
! event m.safetensors.run 'replica differs' || fail "a replica differs"
