#!/bin/bash
# With little address space a tool ends, one way or another.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
for kib in 120000 150000 200000 400000; do
  (ulimit -v $kib && timeout 60 dl-eval -q --model "$models/pets.safetensors" pets.dls >said 2>&1)
  [ $? -ne 124 ] || echo "$kib KiB: it goes on for ever"
done
