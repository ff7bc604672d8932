#!/bin/sh
# A configuration without weights becomes a network to train.
dl-import "$DL_TEST_ROOT/tests/golden/keras/words.json" -o words-net.json
cat words-net.json
dl-master --net words-net.json --dry-run | grep rnn
# Training settings: losses weighted as Keras does, the optimizer, l2.
dl-import -q "$DL_TEST_ROOT/tests/golden/keras/image.keras" -o image.safetensors
python3 - <<'PY'
import json, struct
with open("image.safetensors", "rb") as f:
    n = struct.unpack("<Q", f.read(8))[0]
    net = json.loads(json.loads(f.read(n))["__metadata__"]["network"])
for node in net["nodes"]:
    if node["name"] in net["outputs"]:
        print(node["name"], node["type"], node["loss"], node.get("loss_weight"), node["activation"],
              node["regularization"]["l2"], node["updater"]["type"])
PY
