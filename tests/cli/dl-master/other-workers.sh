#!/bin/bash
# A run goes on with another number of local workers.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for mode in sharing averaging; do
  for local in "1 --epochs 1" "2 --epochs 2" "1 --epochs 3"; do
    # shellcheck disable=SC2086 # words
    master -q --mode $mode -o $mode.safetensors --threads 1 --local $local
    echo "$mode $local: $?"
  done
  jq -c .settings.averaging.workers $mode.safetensors.run/run.json
done
