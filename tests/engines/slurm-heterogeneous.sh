#!/bin/bash
# Slurm, a heterogeneous job: one part for the master, one for the workers.
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
digits_for_lenet
calm
for mode in averaging sharing; do
  declare -n of_mode=$mode
  train --ntasks 1 : --ntasks 4 --nodes 2 -- "${of_mode[@]}" -o $mode.safetensors
  ends "$job"
  check $mode.safetensors.run
  accuracy $mode
done
same_as_calm averaging
