#!/bin/sh
# A device that is not there is told before a master is looked for.
export DL_WORKER_THREADS=1  # the cores of this host differ
dl-worker --master "ipc://$PWD/none" --device tpu
echo $?
dl-worker --master "ipc://$PWD/none" --device cuda:99 2>said
echo $?
wc -l <said
# ... and so is a precision that it does not train in.
dl-worker --master "ipc://$PWD/none" --precision bfloat16
echo $?
dl-worker --master "ipc://$PWD/none" --precision half
echo $?
