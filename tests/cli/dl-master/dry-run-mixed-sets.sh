#!/bin/bash
# Refused as by training; the same file for two uses is right.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --dry-run --eval-data train-000.dls >/dev/null
echo $?
dl-shard -q -n 4 -o other test.dls
mv other-002.dls train-002.dls
master --dry-run
echo $?
mv train-000.dls train-002.dls
master --dry-run --data ./train-001.dls
echo $?
