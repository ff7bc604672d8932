#!/bin/bash
# Open MPI as the launcher: a master and workers as one job, and one rank killed.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need mpirun.openmpi
alone
. "$DL_TEST_ROOT/tests/engines/_training.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun() { mpirun.openmpi --oversubscribe "$@"; }
. "$DL_TEST_ROOT/tests/engines/_mpi.sh"
as_on_the_page openmpi
killed_and_again
echo "a rank is killed, with --enable-recovery:"
job kill@3 recovered --enable-recovery
check recovered.safetensors.run
echo "a rank fails, with --enable-recovery:"
job exit@3 failed --enable-recovery
check failed.safetensors.run
