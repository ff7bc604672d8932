#!/bin/sh
# Leftovers of kill -9, also of shards that no longer exist, are removed by the next run
# of that prefix.
make-dataset 10 >a.dls
DL_FAILPOINTS=publish.rename=kill@1 dl-shard -q -n 4 -o x a.dls &
wait $! 2>/dev/null
find . -name '*.tmp' | sort | sed 's/\.[0-9a-f]*-[0-9]*-[0-9]*\.tmp/.PLACE-PID-N.tmp/'
dl-shard -q -o x-y a.dls
find . -name '*.tmp' | wc -l
dl-shard -q -n 2 -o x a.dls
ls -A
