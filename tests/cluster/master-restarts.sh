#!/bin/bash
# The master is killed and the same command starts again at once, or later, at
# the same address: every worker comes back by itself, over tcp and ipc.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
boss() { # NAME ENDPOINT OPTION...
  local name=$1 bind=$2
  shift 2
  master "$name" --mode sharing --epochs 3 \
    --checkpoint-batches 8 "$@"
}
# Every one of the workers has joined the start of the master that runs.
all_back() { # RUN TIMES
  [ "$(field_of_events "$1" '{"event": "join"}' name | sort | uniq -c |
    grep -c " $2 ")" = 3 ]
}
restart() { # NAME ENDPOINT SECONDS
  local name=$1 endpoint=$2 w
  DL_FAILPOINTS=master.after_commit=kill@20 boss "$name" "$endpoint" --min-workers 3
  await "the endpoint" test -s "$name.json"
  endpoint=$(sed 's/.*"endpoint": *"\([^"]*\)".*/\1/' "$name.json")
  for w in 1 2 3; do
    run "$name$w" dl-worker --master "$endpoint" --name "$w" --wait-lost 10s
  done
  finish "$name"
  rm -f "$name.json"
  sleep "$3"
  # It goes on only when all three are there again.
  boss "$name" "$endpoint" --min-workers 3 --wait 15s
  for w in "$name" "$name"1 "$name"2 "$name"3; do finish "$w"; done
  check "$name.safetensors.run"
}
restart tcp0 tcp://127.0.0.1:0 0
restart tcp1 tcp://127.0.0.1:0 0.1
restart tcp2 tcp://127.0.0.1:0 1
restart ipc0 "ipc://$PWD/socket0" 0
restart ipc1 "ipc://$PWD/socket1" 0.1
restart ipc2 "ipc://$PWD/socket2" 1
