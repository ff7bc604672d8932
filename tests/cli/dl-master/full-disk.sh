#!/bin/bash
# A model that cannot be written: told, and the run is kept.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --mode averaging --local 1 --threads 1 -q --run r -o /dev/full
echo $?
ls r
master --mode averaging --local 1 --threads 1 -q --run r -o no/such/m
echo $?
