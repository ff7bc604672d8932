#!/bin/bash
# A model is trained on with the updater and rate of another --net, which
# dl-export writes; without one with its own.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master -q --local 1 --epochs 2 -o first.safetensors
dl-export -q first.safetensors -o own.json
jq '.updater = {"type": "adam", "learning_rate": 0.5}' own.json >other.json
jq '.updater.learning_rate = 0' own.json >still.json
for net in own other still; do
  dl-master --init first.safetensors --net $net.json --data 'train-*.dls' --batch 8 --mode sync \
    --local 1 --epochs 1 -o $net.safetensors 2>&1 | grep 'taken over'
done
dl-master -q --init first.safetensors --data 'train-*.dls' --batch 8 --mode sync \
  --local 1 --epochs 1 -o alone.safetensors
dl-master -q --init first.safetensors --learning-rate 0.5 --data 'train-*.dls' -o x.safetensors
python3 - <<'END'
import json, struct

def read(name):
    data = open(name + ".safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    network = json.loads(header["__metadata__"]["network"])
    begin, end = header["dense1/weight"]["data_offsets"]
    return network["layers"][0]["updater"], data[8 + size + begin:8 + size + end]

first, alone = read("first"), read("alone")
for name in ("own", "other", "still"):
    updater, weights = read(name)
    print(name, updater["type"], updater["learning_rate"],
          "as before" if weights == first[1] else
          "as without --net" if weights == alone[1] else "trained otherwise")
END
