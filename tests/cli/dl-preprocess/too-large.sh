#!/bin/sh
# A file that grows past `ulimit -f`: the reason is told, and nothing stays.
seq 60000 | sed 's/$/,1/' >a.csv
(ulimit -f 1; dl-preprocess csv --label -1 -o x.dls a.csv)
echo $?
ls -A
