#!/bin/sh
# Its examples would count twice.
make-dataset 10 | dl-shard -q -n 2 -o a
cp a-001.dls plain.dls
ln a-000.dls link.dls
dl-shard --info a-000.dls 'a-*.dls'
echo $?
dl-shard -q -o b a-000.dls link.dls
echo $?
dl-shard --verify plain.dls ./plain.dls
echo $?
test -e b-000.dls || echo "nothing dealt"
