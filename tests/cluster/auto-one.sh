#!/bin/bash
# --mode auto with one worker that comes over TCP: it trains the same bytes as one
# that the master starts, until another one joins it.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_MODE=auto
settings() {
  python3 -c '
import json, sys
s = json.load(open(sys.argv[1] + "/run.json"))["settings"]
print(s["mode"], "alone" if s["averaging"].get("alone") else "")' "$1"
}
make_data
master local --local 1 --threads 1 --epochs 3
finish local
master m --epochs 3
worker a m
finish m
finish a
check m.safetensors.run
settings m.safetensors.run
grep -o 'auto: .*' m.err
cmp local.safetensors m.safetensors && echo "the same bytes"
# The same goes on.
master local --local 1 --threads 1 --epochs 4
finish local
master m --epochs 4
worker a m
finish m
finish a
settings m.safetensors.run
cmp local.safetensors m.safetensors && echo "the same bytes"

# Where sync cannot be, too.
rm -r m.safetensors* local.safetensors* train-*
make_sequence_data
master m
worker a m
finish m
finish a
settings m.safetensors.run

# Another one joins it.
rm -r m.safetensors* train-*
make_data
master m --epochs 100000
worker a m
await "the first to work" event m.safetensors.run '"event":"commit"'
worker b m
await "the other to work" event m.safetensors.run '"event":"commit".*"worker":2}'
kill -TERM "${pid[m]}"
finish m
finish a
finish b
check m.safetensors.run >/dev/null
settings m.safetensors.run
