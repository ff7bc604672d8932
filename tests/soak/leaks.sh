#!/bin/bash
# Workers die and others come, 60 times, while the master lives: it holds no more
# memory and no more descriptors at the end than after the first few.
limit=1800
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
deaths=${SOAK_DEATHS:-60}
RANDOM=${SOAK_SEED:-1}
master m --mode sharing --epochs 1000000 --update-log none
for w in 1 2 3; do worker $w m; done
await "work" event m.safetensors.run '"event":"commit"'
memory() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/${pid[m]}/status"; }
descriptors() { find "/proc/${pid[m]}/fd" | wc -l; }
all_joined() { [ "$(grep -c "joined: cpu" m.err)" -ge "$joined" ]; }
joined=3
for ((death = 1; death <= deaths; death++)); do
  w=$((RANDOM % 3 + 1))
  kill -KILL "${pid[$w]}"
  finish $w >/dev/null
  worker $w m
  joined=$((joined + 1))
  await "another to join" all_joined
  if [ "$death" = 10 ]; then
    was=$(memory) open=$(descriptors)
  fi
done
now=$(memory) held=$(descriptors)
[ "$held" -le $((open + 2)) ] || fail "$open descriptors, then $held"
[ "$now" -le $((was + 16384)) ] || fail "$was KiB, then $now"
echo "$deaths deaths: no leak"
kill -TERM "${pid[m]}"
finish m
for w in 1 2 3; do finish $w; done
