#!/bin/sh
make-dataset 10 | dl-shard -q -o x
zstd -qt x-000.dls
zstd -qdc x-000.dls | tr -cd '[:print:]' | grep -o '"format":"dl-dataset"'
