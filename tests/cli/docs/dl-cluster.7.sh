. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cluster.7.scd
skip_next '--hosts h1,h2*2,h3' 'tests/engines/pdsh.sh does'
skip_next 'dl-keygen keys' 'tests/engines/pdsh.sh does, with another port'
skip_next 'pdsh -R ssh -S' 'tests/engines/pdsh.sh does'
skip_next 'parallel -j 0' 'tests/engines/pdsh.sh does'
skip_next 'xargs -P 0' 'tests/engines/pdsh.sh does'
skip_next 'parallel --retries' 'tests/engines/parallel.sh does'
skip_next 'xargs -P 4' 'tests/engines/parallel.sh does'
skip_next 'sbatch --nodes 4' 'tests/engines/slurm-page.sh does'
skip_next 'sbatch --ntasks 1 :' 'tests/engines/slurm-page.sh does'
skip_next 'sbatch --array' 'tests/engines/slurm-page.sh does'
skip_next 'mpirun -n 1 dl-master' 'tests/engines/openmpi.sh does'
skip_next 'kubectl create secret' 'tests/engines/kubernetes-manifests.sh does'
skip_next 'nightly /nfs/raw' 'tests/cli/scripts/nightly.sh does'
skip_next 'crontab -e' 'tests/cli/scripts/nightly.sh does'
skip_next 'systemctl enable' 'tests/engines/systemd.sh checks the units'
# An object store, here a file: a file here.
# shellcheck disable=SC2016  # for the shell in there
printf '#!/bin/sh\ncat >"store-$1"\n' >.blocks/bin/put
# shellcheck disable=SC2016
printf '#!/bin/sh\ncat "store-$1"\n' >.blocks/bin/get
chmod +x .blocks/bin/put .blocks/bin/get
cp "$examples/digits.csv.gz" "$examples/digits.json" .
run_next 'put digits.dls.gz'
lenet_data
run_next '--estimate'
page_ends
