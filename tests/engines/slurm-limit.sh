#!/bin/bash
# The time limit of a Slurm job: it is warned of it, saves, and is started again.
limit=240
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
patience=180
digits_for_lenet
calm
# The first start is slow: Slurm looks at its limits every half minute.
mkdir slow
cat >slow/dl-worker <<END
#!/bin/sh
[ -n "\$SLURM_RESTART_COUNT" ] || export DL_FAILPOINTS=worker.after_batch=sleep:1s
exec $(command -v dl-worker) "\$@"
END
chmod +x slow/dl-worker
PATH=$PWD/slow:$PATH
nodes+=(--time 3 --signal B:TERM@150)
again limit averaging :
