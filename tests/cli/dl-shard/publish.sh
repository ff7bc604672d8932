#!/bin/sh
# A signal while names change: all of the new shards, none of the old ones.
make-dataset 10 >a.dls
make-dataset 20 >b.dls
dl-shard -q -n 4 -o x a.dls
DL_FAILPOINTS=publish.rename=term@2 dl-shard -n 3 --force -o x b.dls &
wait $! 2>/dev/null
echo $?
dl-shard --verify 'x-*.dls'
# Killed there, two sets are mixed, and everything says so.
DL_FAILPOINTS=publish.rename=kill@3 dl-shard -q -n 4 --force -o x a.dls &
wait $! 2>/dev/null
dl-shard --verify 'x-*.dls'
echo $?
dl-shard --info 'x-*.dls'
echo $?
dl-shard -o y 'x-*.dls'
echo $?
dl-shard --info x-000.dls x-001.dls | grep examples
ls
