#!/bin/sh
# A configuration without weights becomes a network to train.
dl-import "$DL_TEST_ROOT/tests/golden/keras/words.json" -o words-net.json
cat words-net.json
dl-master --net words-net.json --dry-run | grep rnn
# A layer "enc.d" is another one than the d within enc.
python3 - <<'PY' | dl-import - -o dots.json
import json
def layer(kind, name, config, *before):
    return {"class_name": kind, "name": name, "config": {"name": name, **config},
            "inbound_nodes": [[[b, 0, 0, {}] for b in before]] if before else []}
def model(name, end, *layers):
    return {"name": name, "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[end, 0, 0]]}
x = layer("InputLayer", "x", {"batch_input_shape": [None, 4]})
enc = layer("Functional", "enc", model("enc", "d", x, layer("Dense", "d", {"units": 4}, "x")), "x")
print(json.dumps({"class_name": "Functional", "config": model(
    "m", "enc.d", x, enc, layer("Dense", "enc.d", {"units": 4}, "enc"))}))
PY
grep -E '"(name|shares|units)"' dots.json
# Activations that are layers have their settings.
printf '{"class_name": "Sequential", "config": {"name": "m", "layers": [
  {"class_name": "InputLayer", "config": {"batch_shape": [null, 4], "name": "x"}},
  {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation":
    {"class_name": "ThresholdedReLU", "config": {"theta": 0.25}}}}]}}' | dl-import - -o theta.json
grep -E 'theta|thresholded' theta.json
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
# A mark that some editors put before a text is none of it.
source=$DL_TEST_ROOT/tests/golden/keras/words.json
{ printf '\357\273\277'; cat "$source"; } >marked.json
dl-import -q marked.json -o marked-net.json
dl-import -q "$source" -o plain-net.json
cmp marked-net.json plain-net.json && echo "a byte order mark is passed over"
