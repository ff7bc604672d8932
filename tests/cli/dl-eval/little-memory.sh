#!/bin/bash
# With little address space a tool ends, and of no signal: not where there is just too
# little for the threads that a library begins with, either.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
for kib in 120000 150000 200000 400000; do
  (ulimit -v $kib && timeout 60 dl-eval -q --model "$models/pets.safetensors" pets.dls >said 2>&1)
  [ $? -ne 124 ] || echo "$kib KiB: it goes on for ever"
done
for ((kib = 60000; kib < 124000; kib += 2000)); do
  (ulimit -v $kib && dl-eval -q --model "$models/pets.safetensors" pets.dls >said 2>&1)
  [ $? -lt 128 ] || echo "a signal: $(head -n 1 said)"
done
