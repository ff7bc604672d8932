#!/bin/bash
# With keys, workers that feed each other let in who has the run's own key.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys --worker a --worker b --worker c >/dev/null || fail "dl-keygen"
master m --epochs 5000 --min-workers 3 --topology tree --fan-out 2 --keys keys
for name in a b c; do worker $name m --keys keys/hand-out/$name; done
await "a parent" event m.safetensors.run '"event":"feed".*"parent":[1-3]'
! event m.safetensors.run '"parent":0' || fail "a parent was lost"
kill -TERM "${pid[m]}"
finish m
for name in a b c; do finish $name; done
