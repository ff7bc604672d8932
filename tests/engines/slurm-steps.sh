#!/bin/bash
# Slurm, master and workers as steps of a job: LeNet learns on four nodes in each mode.
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
digits_for_lenet
calm
for mode in averaging sharing; do
  declare -n of_mode=$mode
  train "${nodes[@]}" -- "${of_mode[@]}" -o $mode.safetensors
  ends "$job"
  check $mode.safetensors.run
  accuracy $mode
  hosts_of $mode
done
same_as_calm averaging
