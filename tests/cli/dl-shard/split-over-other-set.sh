#!/bin/sh
# Older shards under a prefix are removed by --force, however they were split.
make-dataset 40 >a.dls
make-dataset 50 >b.dls
dl-shard -q -n 2 -o q-own a.dls # another prefix, which stays
dl-shard -q -o q --split train=0.5,test=0.5 a.dls
for parts in train=0.6,dev=0.4 '' x=0.5,y=0.5; do
  how=${parts:+--split $parts}
  # shellcheck disable=SC2086 # two words or none
  dl-shard -o q $how b.dls
  echo $?
  # shellcheck disable=SC2086
  dl-shard -o q --force $how b.dls
  dl-shard -q --verify 'q*.dls' >verdicts && ls q*
done
# An input is no older shard that may go.
dl-shard -o q --force q-x-000.dls
echo $?
# Nothing goes when nothing is written, or the run is killed before.
dl-shard -o q --force missing.dls
echo $?
DL_FAILPOINTS=publish.rename=term@1 dl-shard -n 3 --force -o q b.dls &
wait $! 2>/dev/null
echo $?
ls q*
# Where it is killed between, two sets are mixed, and --verify says so.
dl-shard -q -o q --force --split x=0.5,y=0.5 b.dls
DL_FAILPOINTS=publish.rename=kill@2 dl-shard -q -n 3 --force -o q a.dls &
wait $! 2>/dev/null
dl-shard --verify 'q*.dls'
echo $?
