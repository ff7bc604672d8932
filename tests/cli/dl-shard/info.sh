#!/bin/sh
make-dataset 10 | dl-shard -q -n 2 -o x
dl-shard --info 'x-*.dls'
dl-shard --info --json x-001.dls
make-dataset 4 2 1 regression | dl-shard --info
