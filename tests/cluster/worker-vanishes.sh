#!/bin/bash
# A worker that the master did not start is killed: the end of its connection tells,
# however long it might have been silent.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_LOST_AFTER=10m
make_data
master m --mode averaging --workers 2 --min-workers 2 --epochs 3
DL_FAILPOINTS=worker.after_batch=kill@7 worker a m
worker b m
finish a
finish m
finish b
check m.safetensors.run
grep -o 'lost: its connection ended' m.err
