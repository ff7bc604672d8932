#!/bin/bash
# Slurm stops a job in the middle of a run, in each of its ways, and starts it again:
# it goes on where it was, with the same bytes in averaging.
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
digits_for_lenet
calm
export DL_FAILPOINTS=worker.after_batch=sleep:20ms  # so that there is a middle
again script sharing scancel --signal=TERM --batch
again steps averaging scancel --signal=TERM
again requeue averaging scontrol requeue
again requeue-sharing sharing scontrol requeue

# scancel means it; the same options go on with it.
train "${nodes[@]}" -- "${averaging[@]}" -o cancelled.safetensors
midway cancelled
scancel "$job"
ends "$job"
train "${nodes[@]}" -- "${averaging[@]}" -o cancelled.safetensors
ends "$job"
echo "cancelled: $(starts_of cancelled) starts"
check cancelled.safetensors.run
same_as_calm cancelled
