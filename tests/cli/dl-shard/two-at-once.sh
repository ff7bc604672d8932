#!/bin/bash
# Two writers of one set would mix their shards: the second is refused, and
# leaves the first alone.
mkfifo input
make-dataset 40 4 1 >first.dls
make-dataset 40 4 2 >second.dls
dl-shard -q -n 4 --no-provenance --force -o train input >list &
exec 3>input
until [ -e .train.lock ]; do sleep 0.01; done
dl-shard -q -n 2 --force -o train second.dls
echo $?
dl-shard -q -n 2 -o other second.dls >/dev/null || echo "another set was refused"
cat first.dls >&3
exec 3>&-
wait $!
echo $?
dl-shard -q -n 4 --no-provenance -o want first.dls >/dev/null
for i in 000 001 002 003; do cmp train-$i.dls want-$i.dls; done
# A writer that was killed holds nothing.
: >.train.lock
dl-shard -q -n 2 --force -o train second.dls >/dev/null
echo $?
if [ -e .train.lock ]; then echo "a lock was left"; fi
