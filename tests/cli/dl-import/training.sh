#!/bin/bash
# How a model of Keras was compiled, as keys of the network; what there is not here is
# named in a warning.
model() { # LAYERS COMPILED: layers behind six tokens or numbers
	printf '{"class_name": "Sequential", "config": {"name": "m", "layers": [
	  {"class_name": "InputLayer", "config": {"batch_shape": [null, 6], "name": "x"}}, %s]},
	  "compile_config": {%s}%s}' "$1" "$2" "${3:-}" >m.json
	dl-import m.json -o net.json
	echo "status $?"
	python3 - <<'PY'
import json
net = json.load(open("net.json"))
end = net["layers"][-1]
print(*(f"{k}={json.dumps(end[k])}" for k in ("activation", "loss", "loss_weight", "label_smoothing", "from_logits",
                                             "mean_over", "constraints", "regularization") if k in end))
print(*(f"{k}={json.dumps(net[k])}" for k in ("updater", "regularization", "gradient_normalization") if k in net))
for n in net["layers"][:-1]:
    if "constraints" in n:
        print(n["name"], json.dumps(n["constraints"]))
PY
	rm -f net.json
}
dense() { # ACTIVATION
	printf '{"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "%s"}}' "$1"
}
words='{"class_name": "Embedding", "config": {"name": "e", "input_dim": 9, "output_dim": 4, "mask_zero": true}},
  {"class_name": "LSTM", "config": {"name": "r", "units": 3, "return_sequences": true}}'
loss() { # CLASS CONFIG
	printf '"loss": {"class_name": "%s", "config": {%s}}' "$1" "$2"
}
echo "masks:"
model "$words, $(dense softmax)" "$(loss CategoricalCrossentropy '')"
model "$words, $(dense softmax)" "$(loss CategoricalCrossentropy '')" ', "keras_version": "2.9.0"'
echo "classes:"
model "$(dense softmax)" "$(loss CategoricalCrossentropy '"label_smoothing": 0.1')"
model "$(dense linear)" "$(loss CategoricalCrossentropy '"from_logits": true')"
model "$(dense tanh)" "$(loss BinaryCrossentropy '"from_logits": true, "label_smoothing": 0.2')"
model "$(dense softmax)" "$(loss SparseCategoricalCrossentropy '"from_logits": true, "ignore_class": 1')"
model "$(dense linear)" "$(loss CategoricalCrossentropy '')"
model "$(dense softmax)" "$(loss CategoricalFocalCrossentropy '"gamma": 3')"
model "$(dense linear | sed 's/"units": 2/"units": 1/')" "$(loss CosineSimilarity '')"
model "$(dense sigmoid)" "$(loss BinaryFocalCrossentropy '"apply_class_balancing": true')"
model "$(dense sigmoid)" "$(loss CategoricalHinge '"reduction": "sum"')"
echo "optimizers:"
sgd() { # CONFIG
	model "$(dense linear)" '"loss": "mse", "optimizer": {"class_name": "SGD", "config": {'"$1"'}}'
}
rate() { # CLASS CONFIG
	sgd '"learning_rate": {"class_name": "'"$1"'", "config": {'"$2"'}}'
}
sgd '"learning_rate": 0.5, "decay": 0.1'
sgd '"learning_rate": 0.5, "weight_decay": 0.1, "use_ema": true, "gradient_accumulation_steps": 4, "global_clipnorm": 1'
rate CosineDecay '"initial_learning_rate": 0.5, "decay_steps": 10, "alpha": 0.1'
rate CosineDecay '"initial_learning_rate": 0, "decay_steps": 10, "warmup_target": 0.5, "warmup_steps": 5'
rate PolynomialDecay '"initial_learning_rate": 0.5, "decay_steps": 10, "end_learning_rate": 0.1'
rate PiecewiseConstantDecay '"boundaries": [3, 7], "values": [0.5, 0.4, 0.3]'
rate CosineDecayRestarts '"initial_learning_rate": 0.5, "first_decay_steps": 10'
rate InverseTimeDecay '"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.5, "staircase": true'
rate ExponentialDecay '"initial_learning_rate": 0.5, "decay_steps": 2.5, "decay_rate": 0.5, "staircase": true'
rate PolynomialDecay '"initial_learning_rate": 0.5, "decay_steps": 10, "cycle": true'
sgd '"learning_rate": 0.5, "momentum": 0.9'
sgd '"learning_rate": 0.5, "momentum": 0.9, "nesterov": true'
scaled() { # CLASS CONFIG, as of a model of 16 bits
	model "$(dense linear)" '"loss": "mse", "optimizer": {"class_name": "LossScaleOptimizer", "config":
	  {"inner_optimizer": {"class_name": "'"$1"'", "config": {'"$2"'}}}}'
}
scaled RMSprop '"learning_rate": 0.1, "rho": 0.8, "epsilon": 1e-7, "use_ema": false'
scaled RMSprop '"learning_rate": 0.1, "momentum": 0.5, "centered": true'
scaled Adagrad '"learning_rate": 0.1, "initial_accumulator_value": 0.1, "use_ema": false'
scaled Nadam '"learning_rate": 0.1, "use_ema": false'
scaled Nadam '"learning_rate": 0.1, "decay": 0.004'
model "$words, $(dense softmax)" '"loss": "kld", "optimizer": {"class_name": "AdamW", "config": {"weight_decay": 0.1, "clipvalue": 2}}'
echo "constraints:"
kept() { # CLASS CONFIG: behind a row of six numbers of one feature
	model '{"class_name": "Reshape", "config": {"name": "s", "target_shape": [6, 1]}},
	  {"class_name": "'"$1"'", "config": {"name": "k", '"$2"'}}, {"class_name": "Flatten", "config": {"name": "f"}},
	  '"$(dense linear)" '"loss": "mse"'
}
max='{"class_name": "MaxNorm", "config": {"max_value": 2, "axis": %s}}'
# shellcheck disable=SC2059
norm() { printf "$max" "$1"; }
kept Conv1D '"filters": 3, "kernel_size": 2, "kernel_constraint": '"$(norm 0)"
kept Conv1D '"filters": 3, "kernel_size": 2, "kernel_constraint": '"$(norm '[0, -2]')"
kept DepthwiseConv1D '"kernel_size": 2, "depthwise_constraint": '"$(norm 0)"
kept GRU '"units": 3, "reset_after": false, "kernel_constraint": '"$(norm 0)"
kept GRU '"units": 3, "reset_after": false, "kernel_constraint": '"$(norm 0), \"recurrent_constraint\": $(norm 0)"
kept GRU '"units": 3, "kernel_constraint": {"class_name": "NonNeg", "config": {}}'
echo "calls:"
called() { # VERSION TRAINING
	printf '{"class_name": "Functional", "keras_version": "%s", "config": {"name": "g", "layers": [
	  {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 4], "name": "x"}, "inbound_nodes": []},
	  {"class_name": "BatchNormalization", "name": "a", "config": {"name": "a"}, "inbound_nodes": [[["x", 0, 0, {"training": %s}]]]},
	  {"class_name": "Dropout", "name": "b", "config": {"name": "b", "rate": 0.5}, "inbound_nodes": [[["a", 0, 0, {"training": %s}]]]},
	  {"class_name": "Dense", "name": "c", "config": {"name": "c", "units": 2}, "inbound_nodes": [[["b", 0, 0, {}]]]}],
	  "input_layers": [["x", 0, 0]], "output_layers": [["c", 0, 0]]}}' "$1" "$2" "$2" >g.json
	dl-import g.json -o net.json
	echo "status $?"
	if [ -e net.json ]; then tr -d '\n ' <net.json; fi | grep -o '"type":"[a-z_]*"\|"frozen":true'
	rm -f net.json
}
called 2.15.0 false
called 2.15.0 true
called 3.3.0 false

# Numbers that noise_shape drops together.
for shape in 'null, null, null, null' 'null, 1, 1, 1' 'null, 1, 1, 3' 'null, 4, 1, 1' '1, 1, 1, 1'; do
  printf '{"class_name": "Sequential", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "config": {"batch_shape": [null, 4, 4, 3], "name": "x"}},
    {"class_name": "Dropout", "config": {"name": "d", "rate": 0.2, "noise_shape": [%s]}},
    {"class_name": "Flatten", "config": {"name": "f"}},
    {"class_name": "Dense", "config": {"name": "e", "units": 2}}]}}' "$shape" |
    dl-import - -o dropped.json 2>said
  echo "[$shape]: $(grep -oE '"(dropout|spatial_dropout|stochastic_depth)"' dropped.json)"
  grep noise_shape said
done
# ... at each step; in the last, rows are no steps.
for before in '' '{"class_name": "Conv1D", "config": {"name": "c", "filters": 4, "kernel_size": [1]}},' \
  '{"class_name": "Reshape", "config": {"name": "c", "target_shape": [4, 5]}},'; do
  printf '{"class_name": "Sequential", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "config": {"batch_shape": [null, 5, 4], "name": "x"}},
    %s
    {"class_name": "TimeDistributed", "config": {"name": "d", "layer":
      {"class_name": "Dropout", "config": {"name": "e", "rate": 0.2, "noise_shape": [null, 1]}}}},
    {"class_name": "Flatten", "config": {"name": "f"}},
    {"class_name": "Dense", "config": {"name": "g", "units": 2}}]}}' "$before" |
    dl-import - -o dropped.json 2>said
  jq -c '.layers[] | select(.name == "d")' dropped.json
  grep noise_shape said
done
true
