#!/bin/bash
# Weights of classes, in order, by name and balanced, and of examples, from a column:
# a weight of 3 is as three examples of a batch of all.
# Nothing can be learnt of them.
rows() { awk 'BEGIN { for (i = 0; i < 40; ++i) print i * 37 % 40 / 40 "," i * 11 % 17 / 17 "," (i % 4 ? "dog" : "cat") }'; }
rows | dl-preprocess csv --label 3 --classes cat,dog --no-provenance -o plain.dls
rows | sed 's/cat$/cat,3/; s/dog$/dog,1/' |
  dl-preprocess csv --label 3 --weight 4 --classes cat,dog --no-provenance -o weighted.dls
dl-shard --info weighted.dls | grep -c labels_mask
net() { # KEYS
  cat <<END
{"seed": 1, "input": {"shape": [2]}, "updater": {"type": "sgd", "learning_rate": 0.5},
 "layers": [{"type": "output", "units": 2, "loss": "negative_log_likelihood"$1}]}
END
}
train() { # NAME DATA KEYS
  net "$3" >"$1.json"
  dl-master -q --net "$1.json" --data "$2" --normalize none --mode sync --local 1 --threads 1 \
    --batch 40 --epochs 50 --on-divergence ignore -o "$1.safetensors"
  echo "$1: status $?"
}
train array plain.dls ', "class_weights": [3, 1]'
train named plain.dls ', "class_weights": {"cat": 3}'
train balanced plain.dls ', "class_weights": "balanced"'
train examples weighted.dls ''
train wrong plain.dls ', "class_weights": {"cow": 3}'
python3 - <<'END'
import json, struct

def weights(name):
    data = open(name + ".safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    layer = json.loads(header["__metadata__"]["network"])["layers"][0]
    begin, end = header["output1/weight"]["data_offsets"]
    return layer.get("class_weights"), struct.unpack("<4f", data[8 + size + begin:8 + size + end])

print(weights("named")[0], [round(w, 6) for w in weights("balanced")[0]])
print("array and names:", "the same" if weights("array")[1] == weights("named")[1] else "not alike")
same = max(abs(a - b) for a, b in zip(weights("array")[1], weights("examples")[1]))
print("array and examples:", "alike" if same < 1e-5 else same)
other = max(abs(a - b) for a, b in zip(weights("array")[1], weights("balanced")[1]))
print("array and balanced:", "alike" if other < 1e-5 else "not alike")
END
