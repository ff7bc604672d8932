#!/bin/bash
# Sharing: both replicas have the master's parameters at the end of each epoch.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --mode sharing --epochs 4 --min-workers 2
worker a m
worker b m --threads 2
finish m
finish a
finish b
check m.safetensors.run
grep -c '"event":"round".*"replicas":2' m.safetensors.run/events.jsonl
! event m.safetensors.run 'replica differs' || fail "a replica differs"
