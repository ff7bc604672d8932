. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-worker.1.scd
skip_next '--master tcp://boss' 'other hosts'
skip_next 'srun' 'a Slurm cluster'
skip_next '--device auto' 'other hosts'
skip_next '--exit-on-stdin-eof' 'other hosts'
page_ends
