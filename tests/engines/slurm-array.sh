#!/bin/bash
# Slurm, an array of jobs: a raw file each, one of them requeued; the shards are those of
# a loop here.
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
gzip -dc "$examples/digits.csv.gz" | split -l 300 - raw-
ls raw-* >files
options=(csv --label -1 --classes 10 --shape "8,8,1" --dtype u8)
array=$(submit --hold --array "1-$(wc -l <files)%4" \
  "$cluster_examples/preprocess.sbatch" files digits "${options[@]}")
scontrol release "$array"

await "the array" done_with "$array"
scontrol requeue "${array}_2" || fail "requeue"
await "the second again" in_state "${array}_2" PENDING
await "the array" done_with "$array"
ls digits-*.dls
n=0
while read -r file; do
  n=$((n + 1))
  dl-preprocess "${options[@]}" "$file" |
    dl-shard -q --no-provenance -o "$(printf here-%04d $n)"
done <files
dl-shard --head 10000 --json 'digits-*.dls' | md5sum >there.sum
dl-shard --head 10000 --json 'here-*.dls' | md5sum >here.sum
cmp here.sum there.sum && echo same
dl-master -q --net "$examples/digits.json" --data 'digits-*.dls' --local 1 \
  -o m.safetensors && echo trained
