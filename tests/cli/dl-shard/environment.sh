#!/bin/sh
make-dataset 10 >a.dls
DL_SHARD_SHARDS=3 DL_SHARD_OUTPUT=e dl-shard a.dls
DL_SHARD_SHARDS=3 dl-shard -n 1 -o f a.dls
