#!/bin/bash
# ctrl-C ends the workers that were started elsewhere; so does the death of the
# master, by the end of their standard input.  A master that waited for a worker would
# do so for an hour.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
# Bash has its own children ignore SIGINT.
start() { # NAME WORKERS
  run "$1" env --default-signal=INT dl-master --net net.json --data 'train-*.dls' \
    --batch 10 --normalize standardize -o m.safetensors --bind tcp://127.0.0.1:0 \
    --rsh "bash $DL_TEST_ROOT/tests/cluster/_rsh.sh" --threads 1 \
    --epochs 100000 --hosts 'a,b,gone' --local 1 --lost-after 1h --wait 1h
  await "work of all" worked "$2"
}
worked() {
  [ "$(sed -n 's/.*"event":"commit".*"worker":\([0-9]*\)[,}].*/\1/p' \
    m.safetensors.run/events.jsonl | sort -u | wc -l)" -ge "$1" ]
}
all_ended() {
  local pid
  while read -r pid; do
    ! kill -0 "$pid" 2>/dev/null || return
  done <rsh.pids
}
start m 3
kill -INT "${pid[m]}"
finish m
await "the workers' end after a signal" all_ended
check m.safetensors.run >/dev/null
rm -r m.safetensors.run
start m 3
slay m
await "the workers' end" all_ended
check m.safetensors.run >/dev/null
