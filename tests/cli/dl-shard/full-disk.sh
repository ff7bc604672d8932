#!/bin/sh
make-dataset 10 >a.dls
dl-shard -o x a.dls >/dev/full
echo $?
dl-shard --head 2 a.dls >/dev/full
