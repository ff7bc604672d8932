#!/bin/sh
make-dataset 0 | dl-shard -o x
rc=$?
ls
exit $rc
