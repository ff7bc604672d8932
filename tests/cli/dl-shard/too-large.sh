#!/bin/sh
# Files that grow past `ulimit -f`: the reason is told, old shards stay, and
# nothing else does.
make-dataset 10 | dl-shard -q -n 3 -o x
make-dataset 5000 100 >a.dls
cksum x-*.dls >before
(ulimit -f 1; dl-shard --force -n 3 -o x a.dls)
echo $?
(ulimit -f 1; dl-shard --force --shuffle --memory 1k -n 3 -o x a.dls)
echo $?
cksum x-*.dls | cmp - before
ls -A
