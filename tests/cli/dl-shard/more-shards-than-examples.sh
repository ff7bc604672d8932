#!/bin/sh
make-dataset 3 | dl-shard -n 4 -o x
