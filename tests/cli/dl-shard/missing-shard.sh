#!/bin/sh
# A shard that is not there is an error for --verify and a warning for others.
make-dataset 10 | dl-shard -q -n 4 -o x
rm x-002.dls
dl-shard --verify 'x-*.dls'
echo $?
dl-shard --info 'x-*.dls' | grep 'examples\|missing'
dl-shard -q -o y 'x-*.dls'
echo $?
# Some of those that are there are enough.
dl-shard -q -n 4 -o z y-000.dls
dl-shard --verify z-003.dls z-001.dls
