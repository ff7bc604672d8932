#!/bin/sh
# Shards of two runs given together: each run's statistics count once.
make-dataset 100 10 1 regression | dl-shard -q -n 4 -o a
make-dataset 60 10 2 regression | dl-shard -q -n 3 -o b
dl-shard --info 'a-*.dls' 'b-*.dls' | grep -v 'bytes\|made by'
echo
cat a-*.dls b-*.dls | dl-shard --no-provenance -q -o c
dl-shard --info c-000.dls | grep -v 'bytes\|made by'
