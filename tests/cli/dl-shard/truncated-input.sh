#!/bin/sh
make-dataset 10 | head -c -4 >cut.dls
dl-shard -o x cut.dls
rc=$?
ls x-* .x* 2>/dev/null
exit $rc
