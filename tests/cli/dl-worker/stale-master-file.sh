#!/bin/sh
# The file of a master that is gone: it is named, as nobody else told the
export DL_WORKER_THREADS=1  # the cores of this host differ
# address.
echo "{\"endpoint\": \"ipc://$PWD/none\"}" >m.json
dl-worker --master-file m.json --wait 300ms
