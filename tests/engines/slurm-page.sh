#!/bin/bash
# Slurm: the examples of dl-cluster(7).
. "$DL_TEST_ROOT/tests/engines/_slurm.sh"
cp "$cluster_examples"/*.sbatch .
digits_for_lenet
number() { awk '/^Submitted/ {print $NF}'; }
for text in 'sbatch --nodes 4' 'sbatch --ntasks 1 :'; do
  block "$text" >job.sh
  job=$(bash -e job.sh | number)
  ends "$job"
  check lenet.safetensors.run
  accuracy lenet
  rm -r lenet.*.run lenet.safetensors
done

mkdir raw shards
gzip -dc "$examples/digits.csv.gz" | split -l 300 --additional-suffix .csv - raw/
block 'sbatch --array' >job.sh
array=$(bash -e job.sh | number)
await "the array" done_with "$array"
dl-shard --info 'shards/train-*.dls' | head -n 1
