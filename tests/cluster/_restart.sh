# shellcheck shell=bash
# restart NAME ENDPOINT SECONDS WORKERS: a master is killed in the middle of a
# run, and the same command starts again after so long.  It goes on only when
# all its workers are there again.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"

boss() { # NAME ENDPOINT WORKERS OPTION...
  local name=$1 bind=$2 workers=$3
  shift 3
  master "$name" --mode sharing --epochs 3 --checkpoint-batches 8 \
    --min-workers "$workers" "$@"
}

restart() {
  local name=$1 endpoint=$2 pause=$3 workers=$4 w
  DL_FAILPOINTS=master.after_commit=kill@20 boss "$name" "$endpoint" "$workers"
  await "the endpoint" test -s "$name.json"
  endpoint=$(sed 's/.*"endpoint": *"\([^"]*\)".*/\1/' "$name.json")
  for ((w = 1; w <= workers; w++)); do
    run "$name-$w" dl-worker --master "$endpoint" --name "$w" --wait-lost 30s
  done
  finish "$name"
  rm -f "$name.json"
  sleep "$pause"
  boss "$name" "$endpoint" "$workers" --wait 15s
  finish "$name"
  for ((w = 1; w <= workers; w++)); do finish "$name-$w"; done
  check "$name.safetensors.run"
}
