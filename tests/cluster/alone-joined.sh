#!/bin/bash
# --mode auto begins with a worker of this host alone; one that comes later over
# TCP takes part.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_MODE=auto
make_data
master m --local 1 --threads 1 --epochs 100000
await "the first to work" event m.safetensors.run '"event":"commit"'
worker b m
await "the other to work" event m.safetensors.run '"event":"commit".*"worker":2}'
kill -TERM "${pid[m]}"
finish m
finish b
check m.safetensors.run >/dev/null
grep -o 'auto: .*' m.err
