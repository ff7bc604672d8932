#!/bin/sh
# The launcher's rank is reported, and contradictions; so is an address that this host
# does not have.
try() {
  "$@" dl-worker --master "ipc://$PWD/none" --wait 0 2>&1 | grep -v 'no answer'
}
export DL_WORKER_THREADS=1
try env DL_RANK=3 DL_WORLD_SIZE=8
try env SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PARALLEL_SEQ=4
try env SLURM_PROCID=0 SLURM_NTASKS=2
try env JOB_COMPLETION_INDEX=three
DL_WORKER_THREADS=0 try env OMP_NUM_THREADS=1 | grep -c 1.thread
try env DL_WORKER_NETWORK=10.0.0.0/33
try env DL_WORKER_NETWORK=203.0.113.0/24 | sed 's/; there .*/; there .../'
try env DL_WORKER_INTERFACE=none0 | sed 's/; there .*/; there .../'
try env DL_WORKER_INTERFACE=lo DL_WORKER_NETWORK=::1/128
