#!/bin/sh
# Same input, options and seed: same bytes, whatever memory there is.
make-dataset 5000 100 >a.dls
for memory in 1k 100k 64Mi; do
  mkdir $memory
  dl-shard -q --no-provenance --shuffle --seed 5 -n 3 --batch 64 \
    --split train=0.8,test=0.2 --memory $memory -o $memory/x a.dls
  (cd $memory && cat ./*.dls | cksum)
done | uniq | wc -l
find . -name '*.tmp'
ls 1k
# Every example is there once.
for shard in 1k/*.dls; do
  dl-shard --head 5000 --json "$shard"
done | sed 's/.*\[\([0-9]*\).*/\1/' | sort -n | cksum
seq 0 4999 | cksum
