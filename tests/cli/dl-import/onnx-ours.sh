#!/bin/bash
# Models that dl-export wrote come back unchanged: raw data go in, names and normalizers
# are there again, and the file that is made of it is the same.
digits=$DL_TEST_ROOT/scripts/share/examples/digits.csv.gz
data() { # NAME OPTION...
	zcat "$digits" | head -200 | dl-preprocess csv -q --label -1 --dtype u8 "${@:2}" | dl-shard -q -o "$1"
}
data classes --classes 10
data sizes --regression
again() { # NETWORK DATA NORMALIZER
	dl-master -q --net "$1.json" --data "$2-000.dls" --normalize "$3" --mode averaging --local 1 \
		--epochs 1 --batch 32 -o m.safetensors 2>/dev/null
	dl-export m.safetensors -o m.onnx
	dl-import -q m.onnx -o back.safetensors
	dl-export back.safetensors -o back.onnx
	cmp m.onnx back.onnx && echo "$1 $3: the same file"
	rm -r m.safetensors* back.safetensors.* 2>/dev/null
	python3 - <<'PY'
import json, struct
with open("back.safetensors", "rb") as file:
    about = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))["__metadata__"]
network = json.loads(about["network"])
print([i["name"] for i in network.get("inputs", [])], len(network.get("layers", network.get("nodes"))), "layers",
      json.loads(about["normalizer"])["kind"], json.loads(about.get("target_normalizer", "{}")).get("kind"),
      about.get("data.classes"))
PY
	dl-infer -q --model back.safetensors --batch 5 "$2-000.dls" 2>/dev/null | head -1 | sed -n 's/.*"class":"[0-9]".*/with its class/p'
}
cat >named.json <<'JSON'
{"inputs": [{"name": "pixels", "shape": [64]}],
 "nodes": [{"type": "dense", "name": "hidden", "from": "pixels", "units": 16, "activation": "tanh"},
           {"type": "output", "name": "digit", "from": "hidden", "units": 10, "loss": "negative_log_likelihood"}],
 "outputs": ["digit"]}
JSON
cat >size.json <<'JSON'
{"input": {"shape": [64]}, "layers": [{"type": "dense", "units": 16, "activation": "tanh"},
                                      {"type": "output", "units": 1, "loss": "mean_squared_error"}]}
JSON
cat >mixed.json <<'JSON'
{"input": {"shape": [20]}, "layers": [{"type": "dense", "units": 16, "activation": "tanh"},
                                      {"type": "output", "units": 10, "loss": "negative_log_likelihood"}]}
JSON
cat >code.json <<'JSON'
{"input": {"shape": [64]}, "layers": [{"type": "dense", "units": 16, "activation": "tanh"},
   {"type": "output", "units": 64, "loss": "mean_squared_error", "target": "features"}]}
JSON
again named classes standardize
again size sizes minmax
again mixed classes pca:20
# An autoencoder's output is in the input's units again, and the input its target.
dl-master -q --net code.json --data sizes-000.dls --normalize standardize --mode averaging --local 1 \
	--epochs 1 --batch 32 -o m.safetensors 2>/dev/null
dl-export m.safetensors -o m.onnx
dl-import -q m.onnx -o back.safetensors
dl-export back.safetensors -o net.json && grep -o '"target": "features"' net.json
for model in m back; do dl-infer -q --model $model.safetensors --batch 5 sizes-000.dls 2>/dev/null >$model.said; done
python3 - <<'PY'
import re
numbers = [[float(n) for n in re.findall(r"-?[0-9][0-9.e-]*", open(f"{name}.said").read())] for name in ("m", "back")]
print(max(numbers[0]) > 10, len(numbers[0]) == len(numbers[1]) >= 12800,
      max(abs(a - b) for a, b in zip(*numbers)) < 1e-4)
PY
# A pool of powers is several nodes there.
cat >norms.json <<'JSON'
{"input": {"shape": [8, 8, 1]}, "layers": [{"type": "conv2d", "filters": 4, "kernel": [3, 3]},
   {"type": "pnorm_pool2d", "kernel": [3, 3], "stride": [2, 2], "padding": "same", "p": 2.5},
   {"type": "pnorm_pool2d", "kernel": [2, 1]}, {"type": "global_pool", "kind": "pnorm", "p": 3},
   {"type": "output", "units": 10, "loss": "negative_log_likelihood"}]}
JSON
data images --classes 10 --shape 8,8,1
dl-master -q --net norms.json --data images-000.dls --mode averaging --local 1 --epochs 1 \
	--batch 32 -o p.safetensors 2>/dev/null
dl-export p.safetensors -o p.onnx
dl-import -q p.onnx -o p2.safetensors
for model in p p2; do dl-infer -q --model $model.safetensors images-000.dls >$model.said; done
cmp p.said p2.said && echo 'the same norms'
# Padding, as ONNX has it from dl-export, is told from what other files lack.
cat >padded.json <<'JSON'
{"input": {"shape": [4, 2]}, "layers": [{"type": "lstm", "units": 2},
   {"type": "output", "units": 1, "loss": "mean_squared_error"}]}
JSON
cat >found.json <<'JSON'
{"input": {"shape": [4, 2]}, "layers": [{"type": "masking", "name": "zeros"}, {"type": "lstm", "units": 2},
   {"type": "output", "units": 1, "loss": "mean_squared_error"}]}
JSON
printf '%s\n' 1,1,2,3,4,5,6,7,8 2,8,7,6,5,4,3,2,1 |
	dl-preprocess csv -q --label 1 --regression --shape 4,2 | dl-shard -q -o steps
for network in padded found; do
	dl-master -q --net $network.json --data steps-000.dls --mode averaging --local 1 --epochs 1 \
		--batch 2 -o s.safetensors 2>/dev/null
	dl-export --masks "$([ $network = found ] && echo never || echo always)" s.safetensors -o s.onnx
	dl-import -q s.onnx -o s2.safetensors 2>&1
	echo "status $?"
	rm -r s.safetensors* s.onnx
done
