#!/bin/sh
make-dataset 10 | dl-shard -q -n 3 -o x
cp x-001.dls saved
dl-shard --verify 'x-*.dls'
echo $?
head -c 300 saved >x-001.dls
dl-shard --verify 'x-*.dls'
echo $?
: >x-000.dls
dl-shard --verify 'x-*.dls' missing.dls
