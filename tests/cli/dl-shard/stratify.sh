#!/bin/sh
# Each part has its share of every class; the same whatever the memory.
make-dataset 1000 10 >a.dls
dl-shard --info a.dls | grep -A3 ^classes
dl-shard -q --split train=0.8,test=0.2 --stratify -o x a.dls
for part in train test; do
  dl-shard --info x-$part-000.dls | grep -A3 ^classes
done
mkdir small
dl-shard -q --split train=0.8,test=0.2 --stratify --memory 1k -o small/x a.dls
for part in train test; do
  dl-shard --head 1000 --json x-$part-000.dls >a
  dl-shard --head 1000 --json small/x-$part-000.dls | cmp - a
done
make-dataset 10 4 1 regression | dl-shard --split a=0.5,b=0.5 --stratify -o y
echo $?
dl-shard --stratify -o y a.dls
echo $?
ls y* 2>/dev/null
