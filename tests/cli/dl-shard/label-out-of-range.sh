#!/bin/sh
# The class names come after the data here.
make-dataset 10 4 1 broken >bad.dls
dl-shard -o x bad.dls
echo $?
dl-shard --verify bad.dls
