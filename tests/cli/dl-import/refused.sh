#!/bin/bash
# Each refusal is one sentence that names layer, class and what would be needed.
layer() { # CLASS CONFIG: a model of a dense layer and one of that class
	printf '{"class_name": "Sequential", "config": {"name": "m", "layers": [
	  {"class_name": "InputLayer", "config": {"batch_shape": [null, 6, 4], "name": "x"}},
	  {"class_name": "%s", "config": {"name": "odd"%s}},
	  {"class_name": "Dense", "config": {"name": "d", "units": 2}}]}}' "$1" "$2" >m.json
	dl-import m.json -o net.json
	echo "status $?"
}
layer Lambda ', "function": {"class_name": "__lambda__", "config": {"code": "4wEAAAA="}}'
layer MyLayer ''
layer ConvLSTM2D ''
layer TextVectorization ''
layer RandomFlip ''
layer LSTM ', "units": 3, "return_state": true'
layer LSTM ', "units": 3, "activation": "swish"'
layer LSTM ', "units": 3, "activation": {"class_name": "LeakyReLU", "config": {"negative_slope": 0.2}}'
layer Dense ', "units": 3, "activation": {"class_name": "PReLU", "config": {}}'
layer Conv1D ', "filters": 3, "kernel_size": 9'
layer Conv1D ', "filters": 3, "kernel_size": 99999999999'
layer Dense ', "units": "many"'
layer Dense ', "units": 3, "activation": "sparsemax"'
layer Softmax ', "axis": 3'
layer Conv1D ', "filters": 3, "kernel_size": 2, "wobble": 0.5'
layer MultiHeadAttention ', "num_heads": 2, "key_dim": 2, "sliding_window": 4'
layer Bidirectional ', "merge_mode": null, "layer": {"class_name": "LSTM", "config": {"units": 2}}'
layer Reshape ', "target_shape": [5, 5]'
layer TimeDistributed ', "layer": {"class_name": "Lambda", "config": {"name": "inner"}}'
# Graphs.
graph() { # LAYERS
	printf '{"class_name": "Functional", "config": {"name": "g", "layers": [
	  {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 4], "name": "x"}, "inbound_nodes": []},
	  %s], "input_layers": [["x", 0, 0]], "output_layers": [["b", 0, 0]]}}' "$1" >g.json
	dl-import g.json -o net.json
	echo "status $?"
}
dense() { printf '{"class_name": "Dense", "name": "%s", "config": {"name": "%s", "units": 4}, "inbound_nodes": [%s]}' "$1" "$1" "$2"; }
graph "$(dense a '[["b", 0, 0, {}]]'), $(dense b '[["a", 0, 0, {}]]')"
graph "$(dense b '[["c", 0, 0, {}]]')"
graph "$(dense b '[["x", 3, 0, {}]]')"
graph "$(dense b '[["x", 0, 1, {}]]')"
graph "$(dense b '[["x", 0, 0, {}]]'), $(dense b '[["x", 0, 0, {}]]')"
graph "$(dense b '[["x", 0, 0, {"mask": ["x", 0, 0]}]]')"
graph "$(dense b '[["x", 0, 0, {}]]')"
cp "$DL_TEST_ROOT"/tests/golden/keras/{words.weights.h5,pair.h5} .
# Files that are not models, and options that do not fit.
printf '{"a": 1}' >a.json
printf 'hello' >hello
printf '{"class_name": "MyModel", "config": {}}' >sub.json
for file in a.json hello sub.json missing words.weights.h5; do
	dl-import "$file" -o net.json
	echo "status $?"
done
printf '{"keras_version": "1.2.2", "class_name": "Sequential", "config": [
  {"class_name": "Merge", "config": {"name": "m", "mode": "code", "mode_type": "lambda", "layers": []}}]}' |
	dl-import - -o net.json
echo "status $?"
sed 's/"batch_shape": \[null, 6\]/"batch_shape": [null, null]/' "$DL_TEST_ROOT/tests/golden/keras/words.json" >open.json
dl-import open.json -o net.json
echo "status $?"
dl-import open.json --shape 6 -o net.json && echo "given a shape, it is imported"
dl-import open.json --shape sentence=6 -o net.json
echo "status $?"
dl-import pair.h5 --weights w.h5 -o m
echo "status $?"
ls
