#!/bin/bash
# A checkpoint that was copied from another run is passed over, as is a FIFO.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { master --mode averaging --local 1 --threads 1 -q -o "$@"; }
run want.safetensors --epochs 4
run got.safetensors --epochs 2
run other.safetensors --epochs 2 --seed 18446744073709551615
newest=$(printf '%s\n' other.safetensors.run/checkpoint-* | tail -n 1)
cp "$newest" got.safetensors.run/checkpoint-000009.safetensors
mkfifo got.safetensors.run/checkpoint-000020.safetensors
run got.safetensors --epochs 4
cmp want.safetensors got.safetensors && echo same
