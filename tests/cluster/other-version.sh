#!/bin/bash
# A worker of another protocol version is told so and ends with 76; the master
# goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 2 --min-workers 2
worker a m
DL_FAILPOINTS=worker.other_version=nan worker old m
finish old
grep -o "worker speaks protocol 3, this master.*" old.err
worker b m
finish m
finish a
finish b
check m.safetensors.run
