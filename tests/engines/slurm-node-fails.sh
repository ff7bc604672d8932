#!/bin/bash
limit=290
# A node of a Slurm job loses power in the middle of a run: the job is requeued, and goes
# on where it was, whichever node it is.  With --no-kill, one with a worker is done
# without.
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
digits_for_lenet
calm
export DL_FAILPOINTS=worker.after_batch=sleep:50ms
for mode in averaging sharing; do
  declare -n of_mode=$mode
  train "${nodes[@]}" --no-kill -- "${of_mode[@]}" -o $mode.safetensors
  midway $mode
  power_cut w3
  await "w3 to be missed" event $mode.safetensors.run '"event":"lost"'
  ends "$job"
  echo "$mode without a worker: $(starts_of $mode) start"
  check $mode.safetensors.run
  accuracy $mode
  power_on w3
  await "four idle nodes" four_idle
done
same_as_calm averaging

export DL_FAILPOINTS=worker.after_batch=sleep:200ms
for name in w1 w3; do
  train "${nodes[@]}" -- "${averaging[@]}" -o $name.safetensors
  midway $name
  power_cut $name
  await "the job to be requeued" in_state "$job" PENDING
  power_on $name
  ends "$job"
  echo "without $name: $(starts_of $name) starts"
  check $name.safetensors.run
  same_as_calm $name
done
