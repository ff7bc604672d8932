#!/bin/bash
# Sharing with constraints: replicas are equal to the last bit though the master
# dies in between, the log gives the model's bytes, and its weights keep their
# norms.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
constrain_net
# Weights of layers, without updater state.
weights_of() {
  python3 - "$1" <<'PY'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
for name, tensor in sorted(json.loads(data[8:8 + size]).items()):
    if name.endswith(("/weight", "/bias")):
        begin, end = (8 + size + i for i in tensor["data_offsets"])
        print(name, data[begin:end].hex())
PY
}
train() {
  master m --mode sharing --epochs 3 --min-workers 2 --update-log keep \
    --checkpoint-every 0s
}
DL_FAILPOINTS=master.after_commit=kill@55 train
worker a m
worker b m --threads 2
finish m
train
finish m
finish a
finish b
run=m.safetensors.run
check $run
norms_of m.safetensors
mkdir first
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
for model in m last; do weights_of $model.safetensors >$model.weights; done
cmp m.weights last.weights && echo "same weights"
! event $run 'replica differs' || fail "a replica differs"
