#!/bin/sh
make-dataset 10 >a.dls
make-dataset 10 4 1 regression >b.dls
dl-shard -o x a.dls b.dls
