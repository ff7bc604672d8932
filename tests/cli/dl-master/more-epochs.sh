#!/bin/bash
# A finished run goes on when the command wants more epochs: the same bytes as
# with so many from the start, the log of before still fits, and what ended the
# run counts by the new command.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { # MODEL OPTION...
  local model=$1
  shift
  master --mode averaging --local 2 --threads 1 --frequency 2 \
    --updater-state average --update-log keep --eval-data test.dls \
    -o "$model" "$@" 2>>said
  echo "$model $*: $?"
}
run want.safetensors --epochs 5
run m.safetensors --epochs 2
run m.safetensors --epochs 2
run m.safetensors --epochs 4
# Killed with its model unwritten: the one that is there is of epoch 4.
DL_FAILPOINTS=master.before_model=kill run m.safetensors --epochs 5 2>/dev/null
run m.safetensors --epochs 5
cmp want.safetensors m.safetensors && echo same
dl-master --replay m.safetensors.run -o replayed.safetensors 2>/dev/null
cmp want.safetensors replayed.safetensors && echo same
run m.safetensors --epochs 4
run m.safetensors --epochs 9 --target accuracy=0.1
run m.safetensors --epochs 9 --target accuracy=0.1
run m.safetensors --epochs 9
run want.safetensors --epochs 9
cmp want.safetensors m.safetensors && echo same
grep '^dl-master: .*--fresh' said
