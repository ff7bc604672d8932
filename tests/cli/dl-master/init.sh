#!/bin/bash
# Starting from a model goes on from its parameters.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { dl-master --data 'train-*.dls' --batch 8 --local 1 --threads 1 -q "$@"; }
loss() { python3 -c 'import json, sys; print(json.load(sys.stdin)["history"][0]["loss"])'; }
first=$(run --net net.json --epochs 20 -o a.safetensors --json | loss)
second=$(run --init a.safetensors -o b.safetensors --json | loss)
python3 -c "assert $second < 0.5 * $first, ($first, $second)"
sed -i 's/"units": 8/"units": 9/' net.json
run --init a.safetensors --net net.json -o c.safetensors
