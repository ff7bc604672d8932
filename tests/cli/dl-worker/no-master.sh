#!/bin/sh
# Nobody there: it says so and ends with 69.
export DL_WORKER_THREADS=1  # the cores of this host differ
dl-worker --master "ipc://$PWD/none" --wait 300ms
