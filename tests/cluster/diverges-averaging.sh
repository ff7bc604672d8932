#!/bin/bash
# Averaging goes wrong: it goes back as sharing does, to before the round, and on
# with a smaller learning rate of the replicas.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_diverging

start() { # NAME OPTION...
  local name=$1
  shift
  master "$name" --mode averaging --frequency 5 --epochs 40 --workers 2 \
    --min-workers 2 "$@"
}

# The log gives the model that the run ended with.
ended() { # NAME
  finish "$1"
  finish "$1-a"
  finish "$1-b"
  event "$1.safetensors.run" '"event":"setback"' || fail "no event"
  check "$1.safetensors.run"
  dl-master -q --replay "$1.safetensors.run" -o replayed.safetensors ||
    fail "no replay"
  cmp replayed.safetensors "$1.safetensors" || fail "the models differ"
}

start plain
worker plain-a plain
worker plain-b plain
ended plain
said plain.err 'it goes back to before that' || fail "it does not go back"

start overlapping --overlap --outer diloco --delta int8
worker overlapping-a overlapping
worker overlapping-b overlapping
ended overlapping

# A master that is killed as it goes back comes to the same.
DL_FAILPOINTS=master.setback=kill@2 start killed
worker killed-a killed
worker killed-b killed
finish killed
start killed
ended killed
cmp killed.safetensors plain.safetensors || fail "it comes to another model"
