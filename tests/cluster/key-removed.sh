#!/bin/bash
# A key that is removed: its worker is out within seconds, and stays out; the
# others join again with a new key for the tree, and the run goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys --worker a --worker b --worker c --worker d \
  >/dev/null || fail "dl-keygen"
master m --epochs 100000 --min-workers 4 --topology tree --fan-out 2 --keys keys
for name in a b c d; do worker $name m --keys keys/hand-out/$name; done
await "a parent" event m.safetensors.run '"event":"feed".*"parent":[1-3]'
rm keys/workers/d.pub
finish d
said d.err "does not know this worker's key" || fail "d is not told"
event m.safetensors.run '"event":"lost".*its key was removed' || fail "not lost"
await "the others to join again" event m.safetensors.run '"event":"join".*"worker":7}'
await "a parent" event m.safetensors.run '"event":"feed".*"parent":[567]'
await "their work" event m.safetensors.run '"event":"commit".*"worker":7'
kill -TERM "${pid[m]}"
finish m
finish a
finish b
finish c
check m.safetensors.run >/dev/null
