#!/bin/bash
# A sheet of augmented pictures, and a model, replace neither the network, models, data
# and lists that they are made from, nor dl-infer's output its list of inputs.
export SOURCE_DATE_EPOCH=0
/usr/bin/python3 - <<'PY'
import os
for n, folder in enumerate(("dark", "light")):
    os.makedirs("p/" + folder)
    for i in range(4):
        open(f"p/{folder}/{i}.ppm", "wb").write(b"P6 4 4 255\n" + bytes([60 + 100 * n + i]) * 48)
PY
dl-preprocess images -q --size 4x4 p -o p.dls
cp p.dls e.dls
echo p.dls >list
cat >n.json <<'J'
{ "seed": 1, "input": {"shape": [4, 4, 3]}, "augment": [{"type": "flip"}],
  "layers": [{"type": "output", "units": 2, "activation": "softmax",
              "loss": "negative_log_likelihood"}] }
J
dl-master -q --net n.json --data p.dls --normalize standardize --local 1 --epochs 30 -o m.safetensors
cp m.safetensors i.safetensors
sha256sum n.json i.safetensors e.dls list >before
refused() { "$@"; echo "status $?"; }
refused dl-master -q --net n.json --data p.dls --preview-augment n.json
refused dl-master -q --net n.json --data p.dls --init i.safetensors --preview-augment i.safetensors
refused dl-master -q --net n.json --data p.dls --eval-data e.dls --preview-augment e.dls
refused dl-master -q --net n.json --data-list list --preview-augment list
refused dl-master -q --net n.json --data-list list --local 1 --epochs 1 -o list
refused dl-infer -q --model m.safetensors --data-list list -o list
find p -name '*.ppm' | sort >names
sha256sum p/*/* >>before
refused dl-preprocess images -q --size 4x4 --list names -o p/dark/1.ppm
tr '\n' '\0' <names | refused dl-preprocess images -q --size 4x4 -0 -o p/dark/1.ppm
refused dl-preprocess images -q --size 4x4 --list names --bad-list p/dark/1.ppm -o x.dls
refused dl-preprocess images -q --size 4x4 --list names --preview p/dark/1.ppm
echo p >folders
refused dl-preprocess images -q --size 4x4 --list folders -o p/dark/9.ppm
sha256sum --quiet -c before && echo untouched
ls p/dark x.dls 2>/dev/null
