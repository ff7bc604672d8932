#!/bin/sh
# Differences in training from Deeplearning4j are reported, and agreements are not.
norm() { # DIMENSION
	printf '{"@class": "x.MaxNormConstraint", "maxNorm": 2.0, "params": ["W"], "dimensions": [%s]}' "$1"
}
drop='"idropout": {"@class": "x.Dropout", "p": 0.75}'
printf '{"confs": [
  {"minimize": false, "layer": {"@class": "x.Bidirectional", "mode": "CONCAT", %s,
    "fwd": {"@class": "x.LSTM", "nin": 2, "nout": 3, %s, "activationFn": {"@class": "x.ActivationTanH"}},
    "bwd": {"@class": "x.LSTM", "nin": 2, "nout": 3, %s, "activationFn": {"@class": "x.ActivationTanH"}}}},
  {"layer": {"@class": "x.GlobalPoolingLayer", "poolingType": "MAX", %s}},
  {"layer": {"@class": "x.DenseLayer", "layerName": "same", "nin": 6, "nout": 4, "activationFn": {"@class": "x.ActivationReLU"}, "constraints": [%s]}},
  {"layer": {"@class": "x.DenseLayer", "layerName": "other", "nin": 4, "nout": 4, "activationFn": {"@class": "x.ActivationReLU"}, "constraints": [%s]}},
  {"layer": {"@class": "x.ElementWiseMultiplicationLayer", "activationFn": {"@class": "x.ActivationReLU"}, "nin": 4, "nout": 4, "regularization": [{"@class": "x.L2Regularization", "l2": 0.1}]}},
  {"learningRatePolicy": "TorchStep", "layer": {"@class": "x.OutputLayer", "layerName": "out", "nin": 4, "nout": 2, "activationFn": {"@class": "x.ActivationSoftmax"},
    "iupdater": {"@class": "x.Sgd", "learningRate": 0.2}, "learningRate": 0.2}}]}' \
	"$drop" "$drop" "$drop" "$drop" "$(norm 0)" "$(norm 1)" >m.json
dl-import -q m.json --shape 5,2 -o net.json
grep -c '"type": "dropout"' net.json
grep -A 3 max_norm net.json
# An updater that is none.
printf '{"confs": [{"layer": {"@class": "x.OutputLayer", "nin": 4, "nout": 2, "activationFn": {"@class": "x.ActivationSoftmax"}, "iupdater": 3, "learningRate": 0.2}}]}' >m.json
dl-import -q m.json -o net.json
