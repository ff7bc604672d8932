#!/bin/sh
# A pipeline whose first part fails needs no pipefail.
: | dl-shard -o x
echo $?
make-dataset 10 | head -c 300 | dl-shard -o x
echo $?
make-dataset 10 >a.dls
dl-shard -o x 'pipe:cat a.dls; exit 3'
echo $?
dl-shard -o x 'pipe:head -c 300 a.dls; exit 4'
echo $?
dl-shard -o x --no-pipe 'pipe:cat a.dls'
echo $?
find . -name 'x-*'
