#!/bin/sh
# Ids and numbers of rows are dealt, shown, and have no statistics.
make-dataset 5 2 1 ids | dl-shard -q --shuffle -n 2 -o x
dl-shard --head 5 --json 'x-*.dls'
dl-shard --info x-000.dls
