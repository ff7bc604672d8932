#!/bin/bash
# A rank that its launcher starts again is let in at once: under its old name, or
# beside its predecessor, if that only stands still.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
export DL_RANK=3 DL_WORLD_SIZE=8 DL_MASTER_LOST_AFTER=20s
joined() { # COUNT
  [ "$(grep -c '"event":"join"' m.safetensors.run/events.jsonl)" -ge "$1" ]
}
master m --epochs 100000
rank() {
  run "$1" dl-worker --master-file m.json
  await "$1 to join" joined "$2"
}
rank first 1
slay first
rank second 2
kill -STOP "${pid[second]}"
rank third 3
await "its work" event m.safetensors.run '"event":"commit".*"worker":3[,}]'
kill -CONT "${pid[second]}"
kill -TERM "${pid[m]}"
for name in m second third; do finish $name; done
grep -o 'rank 3 of 8 (DL_RANK)' third.err
sed -n 's/.*"event":"join".*"name":"\([^"]*\)".*/\1/p' m.safetensors.run/events.jsonl |
  sed "s/^$(hostname):/HOST:/"
check m.safetensors.run >/dev/null
