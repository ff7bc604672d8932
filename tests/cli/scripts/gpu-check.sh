#!/bin/bash
# The check of a GPU runs, here over an emulation of CUDA, and says where there
# is none.
bin=$(dirname "$(command -v dl-worker)")
[ -e "$bin/libemulated_cuda.so" ] || { echo 'no CUDA toolkit' >&2; exit 77; }
check() { "$DL_TEST_ROOT/scripts/gpu-check" --build "$bin/.." "$@"; }
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --only "sums*,rows*" --json found.json >found.txt
echo "status $?"
grep -c 'passed .* All tests passed' found.txt
python3 -c '
import json
found = json.load(open("found.json"))
print(found["device"], *(part["part"] + ": " + part["result"] for part in found["parts"]))'
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --only "no such test" >/dev/null
echo "status $?"
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --device cuda:5 >/dev/null
echo "status $?"
DL_CUDA_PLUGIN=none.so check
echo "status $?"
