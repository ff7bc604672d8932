#!/bin/sh
# A filter dies of SIGPIPE without a word.
make-dataset 20000 100 >a.dls
{ dl-shard --head 20000 --json a.dls; echo $? >status; } | head -n 1
cat status
