#!/bin/sh
# Leftovers of kill -9 are removed by the next run that writes the file, and not while
# their writer runs.
yes 1,0 | head -1000 >a.csv
dl-preprocess csv --label -1 --classes 0,1 -o x.dls 'pipe:exec yes 1,0' &
until find . -name '*.tmp' | grep -q . || ! kill -0 $!; do :; done
dl-preprocess csv -q --label -1 --classes 0,1 -o x.dls a.csv
find . -name '*.tmp' | wc -l
{ kill -KILL $! && wait $!; } 2>/dev/null
find . -name '*.tmp' | wc -l
dl-preprocess csv -q --force --label -1 --classes 0,1 -o x.dls a.csv
ls -A
