#!/bin/sh
make-dataset 10 >a.dls
dl-shard -q -n 4 -o x a.dls
dl-shard -n 2 -o x missing.dls
echo $?
dl-shard -n 2 --force -o x missing.dls
echo $?
ls
dl-shard -n 2 --force -o x a.dls
ls
