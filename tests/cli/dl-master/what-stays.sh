#!/bin/bash
# A run that has ended keeps what more epochs go on from, and no more; with
# --update-log keep all that it was.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { # MODEL EPOCHS OPTION...
  master -q --mode "$mode" --local 1 --threads 1 --checkpoint-every 0s --epochs "$2" \
    -o "$1" "${@:3}"
  echo "$mode $*: status $?"
}
list() { (cd "$1.run" && ls checkpoint-* updates-*); }
for mode in averaging sharing; do
  run few.safetensors 4
  list few.safetensors
  run few.safetensors 6
  list few.safetensors
  run all.safetensors 6 --update-log keep
  list all.safetensors | wc -l
  # In sharing workers begin anew with their residuals.
  [ $mode = sharing ] || { cmp few.safetensors all.safetensors && echo 'the same model'; }
  dl-master -q --replay few.safetensors.run -o replayed.safetensors
  cmp few.safetensors replayed.safetensors && echo 'the model is replayed'
  # Without a model that was written, all of it.
  (DL_FAILPOINTS=master.before_model=kill run killed.safetensors 4) >/dev/null 2>&1
  list killed.safetensors | wc -l
  run killed.safetensors 4
  rm -r ./*.safetensors*
done
