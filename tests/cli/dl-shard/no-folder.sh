#!/bin/sh
make-dataset 10 | dl-shard -o no/such/x
