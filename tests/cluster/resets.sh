#!/bin/bash
# Connections are reset in the middle of whatever passes, again and again: the
# workers join again each time, every example counts once, and the models of
# --mode averaging and of --staleness 0 are those of runs without resets.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
# like_calm NAME OPTION...: the model of NAME is that of a run without resets
like_calm() {
  local name=$1 w
  shift
  master calm --epochs 3 --min-workers 3 "$@"
  some_workers calm calm 3
  for w in calm calm-1 calm-2 calm-3; do finish "$w"; done
  cmp "$name.safetensors" calm.safetensors || fail "the models differ"
  rm -r calm.*
}
through_proxy sharing 1 12 reset 3 --mode sharing
through_proxy synchronous 2 12 reset 3 --mode sharing --staleness 0
like_calm synchronous --mode sharing --staleness 0
through_proxy averaging 3 12 reset 3 --mode averaging --workers 3
like_calm averaging --mode averaging --workers 3
