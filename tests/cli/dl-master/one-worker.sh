#!/bin/bash
# With one worker sharing gives the same bytes on every start, as it waits for
# its updates to come back.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for i in 1 2 3 4; do
  master --mode sharing --local 1 --threads 2 --epochs 10 -q -o $i.safetensors
  cmp 1.safetensors $i.safetensors && echo same
done
! grep '"staleness":[1-9]' 1.safetensors.run/events.jsonl
