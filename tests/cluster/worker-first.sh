#!/bin/bash
# A worker may start before its master, and says what it waits for.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
worker a m
await "the worker to say so" said a.err "waiting for 'm.json'"
master m --epochs 1
finish m
finish a
check m.safetensors.run
