#!/bin/bash
# Each refusal of a model of Deeplearning4j is one sentence that names layer, class
# and what would be needed.
p=org.deeplearning4j.nn.conf
layer() { # CLASS KEYS: behind a dense layer
	printf '{"confs": [
	  {"layer": {"@class": "%s.layers.DenseLayer", "nin": 4, "nout": 6, "layerName": "d", "activationFn": {"@class": "x.ActivationReLU"}}},
	  {"layer": {"@class": "%s.layers.%s", "layerName": "odd"%s}}]}' $p $p "$1" "$2" >m.json
	dl-import m.json -o net.json
	echo "status $?"
}
layer CapsuleLayer ''
layer samediff.SameDiffLambdaLayer ''
layer objdetect.Yolo2OutputLayer ''
layer LSTM ', "nin": 6, "nout": 3'
layer DenseLayer ', "nin": 5, "nout": 3'
layer DenseLayer ', "nin": 6, "nout": "many"'
layer DenseLayer ', "nin": 6'
layer ConvolutionLayer ', "nin": 6, "nout": 3'
layer OutputLayer ', "nin": 6, "nout": 3, "activationFn": {"@class": "x.ActivationPReLU"}'
layer EmbeddingLayer ', "nin": 6, "nout": 3'
echo '{"confs": []}' >m.json
dl-import m.json -o net.json
# A graph whose vertices wait for each other, and one that takes what is not there.
vertex() { printf '"%s": {"@class": "x.MergeVertex"}' "$1"; }
printf '{"networkInputs": ["x"], "networkOutputs": ["a"], "vertices": {%s, %s}, "vertexInputs": {"a": ["b"], "b": ["a"]}}' \
	"$(vertex a)" "$(vertex b)" >m.json
dl-import m.json -o net.json
# A vertex of nothing.
printf '{"networkInputs": ["x"], "networkOutputs": ["a"], "vertices": {%s}, "vertexInputs": {"a": []}}' "$(vertex a)" >m.json
dl-import m.json --shape x=3 -o net.json
# A reshape in Fortran's order.
printf '{"networkInputs": ["x"], "networkOutputs": ["a"], "vertices": {"a": {"@class": "x.ReshapeVertex", "reshapeOrder": "f", "newShape": [-1, 2, 3]}},
  "vertexInputs": {"a": ["x"]}}' >m.json
dl-import m.json --shape x=6 -o net.json
# Channels last behind channels first.
printf '{"confs": [{"layer": {"@class": "x.ConvolutionLayer", "nin": 1, "nout": 2, "kernelSize": [1, 1], "activationFn": {"@class": "x.ActivationReLU"}}},
  {"layer": {"@class": "x.ConvolutionLayer", "nin": 2, "nout": 2, "kernelSize": [1, 1], "cnn2dDataFormat": "NHWC"}}]}' >m.json
dl-import m.json --shape 3,3,1 -o net.json
# A model with more numbers than parameters, and a damaged one.
zip() { # COEFFICIENTS: of a model of one layer
	python3 - "$1" <<'PY'
import json, struct, sys, zipfile
utf = lambda text: struct.pack(">H", len(text)) + text.encode()
def buffer(values, kind, form):
    return utf("MIXED_DATA_TYPES") + struct.pack(">q", len(values)) + utf(kind) + struct.pack(f">{len(values)}{form}", *values)
n = int(sys.argv[1])
conf = {"confs": [{"layer": {"@class": "x.OutputLayer", "nin": 2, "nout": 1, "activationFn": {"@class": "x.ActivationSigmoid"},
                             "lossFn": {"@class": "x.LossBinaryXENT"}}}]}
with zipfile.ZipFile("m.zip", "w") as f:
    f.writestr("configuration.json", json.dumps(conf))
    f.writestr("coefficients.bin", buffer([2, 1, n, n, 1, 0, 1, 99], "LONG", "q") + buffer([0.5] * 3, "FLOAT", "f"))
PY
}
zip 3
dl-import m.zip -o m.safetensors && echo ok
zip 2
dl-import m.zip -o m.safetensors
echo "status $?"
zip 4000000000000
dl-import m.zip -o m.safetensors
echo "status $?"
