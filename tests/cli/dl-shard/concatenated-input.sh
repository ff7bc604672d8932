#!/bin/sh
make-dataset 10 >a.dls
make-dataset 7 3 2 >b.dls
cat a.dls b.dls | dl-shard -q -o pipe
dl-shard -q -o files --no-provenance a.dls b.dls
cat a.dls b.dls >both.dls
zstd -qt both.dls
dl-shard --no-provenance -o pipe --force - <both.dls
cmp pipe-000.dls files-000.dls
dl-shard --info both.dls | head -n 1
