#!/bin/bash
# MPICH as the launcher: a master and workers as one job, and one rank killed.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need mpiexec.hydra
alone
. "$DL_TEST_ROOT/tests/engines/_training.sh"
mpirun() { mpiexec.hydra "$@"; }
. "$DL_TEST_ROOT/tests/engines/_mpi.sh"
as_on_the_page mpich
killed_and_again
echo "a rank fails:"
job exit@3 failed
check failed.safetensors.run
