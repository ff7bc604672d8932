#!/bin/bash
# Threads that a mini-batch has no work for are not started, unless asked for.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for threads in 0 2; do
  master -q --local 1 --threads $threads --fresh -o m.safetensors
  jq -r 'select(.event == "join") | .threads' m.safetensors.run/events.jsonl
done
