#!/bin/bash
# The master starts workers on other hosts: goes on without those that do not
# answer, starts again what died, shows what they say, and tells of each.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
rsh="bash $DL_TEST_ROOT/tests/cluster/_rsh.sh"
hosts() {
  local name=$1
  shift
  master "$name" --rsh "$rsh" --threads 1 "$@"
}
hosts m --epochs 100000 --hosts 'a*2,noisy,gone,me@mortal,bare' --restarts 2
await "another one" event m.safetensors.run '"event":"join".*"name":"mortal:[5-9]"'
await "its work" event m.safetensors.run '"event":"commit".*"worker":[56][,}]'
await "the end of trying" said m.err 'gone does not answer; it is given up'
kill -TERM "${pid[m]}"
finish m
check m.safetensors.run >/dev/null
grep -oE '^[a-z]+: (Welcome to noisy|no line)' m.err | sort
grep -o 'gone does not answer.*\|bare: its worker .*' m.err | sort
grep -q '^gone: ssh: connect to host gone' m.err || fail "not shown"
sed -n '/^ *hosts /,/^ *leases/p' m.err |
  sed 's/[0-9]* mini-batches/N mini-batches/; s/^ *hosts *//; s/^ *//; /^leases/d'
sed -n 's/.*"event":"join".*"name":"\([^"]*\)".*/\1/p' m.safetensors.run/events.jsonl |
  sed 's/mortal:[5-9]/mortal:N/' | sort -u
# Keys are on no command line.
grep -o -- '--keys [^ ]*' rsh.commands | sort -u
# All that were started have ended.
while read -r pid; do
  ! kill -0 "$pid" 2>/dev/null || fail "a worker is left"
done <rsh.pids

hosts none --hosts gone,bare --restarts 0
finish none
tail -1 none.err
