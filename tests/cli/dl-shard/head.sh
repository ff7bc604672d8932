#!/bin/sh
make-dataset 10 | dl-shard -q -n 2 -o x
dl-shard --head 6 --json 'x-*.dls'
dl-shard --head 6 'x-*.dls' | dl-shard --head 100 --json - | cksum
dl-shard --head 6 --json 'x-*.dls' | cksum
make-dataset 2 2 1 nan | dl-shard --head 1 --json
