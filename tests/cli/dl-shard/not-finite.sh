#!/bin/sh
make-dataset 10 4 1 nan | dl-shard -o x
