#!/bin/bash
# An output that cannot be written, or would never be, is found before the training.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
mkdir folder
try() { dl-master -q "$@"; echo "status $?"; ls -d ./*.run 2>/dev/null || :; }
all=(--net net.json --data 'train-*.dls' --local 1)
try "${all[@]}" -o folder
try "${all[@]}" -o folder/
try "${all[@]}" -o none/m.safetensors
mkfifo fifo
try "${all[@]}" -o fifo
try "${all[@]}" -o /dev/null
try "${all[@]}" -o m.safetensors --master-file folder
try "${all[@]}" -o m.safetensors --master-file none/m.json
echo '-- the run directory is made'
dl-master -q "${all[@]}" --run r -o r/m.safetensors && ls r/m.safetensors
echo '-- --replay'
try --replay r -o folder
try --replay r -o none/m.safetensors
