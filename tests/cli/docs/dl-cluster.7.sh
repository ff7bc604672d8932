. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cluster.7.scd
skip_next 'sbatch --nodes 4' 'tests/engines/slurm-page.sh does'
skip_next 'sbatch --ntasks 1 :' 'tests/engines/slurm-page.sh does'
skip_next 'sbatch --array' 'tests/engines/slurm-page.sh does'
skip_next 'mpirun -n 1 dl-master' 'tests/engines/openmpi.sh does'
page_ends
