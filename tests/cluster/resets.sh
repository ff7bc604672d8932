#!/bin/bash
# Connections are reset in the middle of whatever passes, again and again: the
# workers join again each time, every example counts once, and the model of
# --mode averaging is that of a run without resets.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
three_workers() { # NAME MASTER: as NAME-1 ...
  local w
  for w in 1 2 3; do
    run "$1-$w" dl-worker --master-file "$2.json" --name "$w"
  done
}
reset_often() { # NAME SEED OPTION...
  local name=$1 seed=$2 w
  shift 2
  master "$name" --epochs 3 --min-workers 3 "$@"
  await "the endpoint" test -s "$name.json"
  run "$name-proxy" python3 "$DL_TEST_ROOT/tests/cluster/proxy.py" \
    "$name.json" "$name-proxy.json" "$seed" 12
  await "the proxy" test -s "$name-proxy.json"
  three_workers "$name" "$name-proxy"
  for w in "$name" "$name"-1 "$name"-2 "$name"-3; do finish "$w"; done
  kill -KILL "${pid["$name-proxy"]}"
  finish "$name-proxy"
  [ "$(grep -c reset "$name-proxy.out")" = 12 ] || fail "fewer resets"
  check "$name.safetensors.run"
}
calm() { # NAME OPTION...: the model of NAME is that of a run without resets
  local name=$1 w
  shift
  master calm --epochs 3 --min-workers 3 "$@"
  three_workers calm calm
  for w in calm calm-1 calm-2 calm-3; do finish "$w"; done
  cmp "$name.safetensors" calm.safetensors || fail "the models differ"
  rm -r calm.*
}
reset_often sharing 1 --mode sharing
reset_often synchronous 2 --mode sharing --staleness 0
reset_often averaging 3 --mode averaging --workers 3
calm averaging --mode averaging --workers 3
