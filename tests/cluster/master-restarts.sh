#!/bin/bash
# The master is killed and the same command starts again at once, or later, at
# the same address: every worker comes back by itself, over tcp and ipc.
. "$DL_TEST_ROOT/tests/cluster/_restart.sh"
make_data
n=0
for pause in 0 0.1 1; do
  n=$((n + 1))
  restart tcp$n tcp://127.0.0.1:0 $pause 3
  restart ipc$n "ipc://$PWD/socket$n" $pause 3
done
