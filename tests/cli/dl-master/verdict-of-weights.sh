#!/bin/bash
# Explicit weights of classes: a run that learns nothing ends with 79, one that
# learns does not.  A few labels that are wrong make the loss high and leave the
# accuracy good, of which a warning tells.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { # RATE WEIGHTS DATA [OPTION]...
  jq ".updater.learning_rate = $1 | .layers[1].class_weights = $2" net.json >n.json
  data=$3
  shift 3
  dl-master -q --net n.json --data "$data" --batch 8 --mode sync --local 1 --fresh \
    -o m.safetensors "$@" 2>log
  echo "status $?"
  cat log
}
for weights in '[1, 20, 1]' '{"b": 0.1}'; do
  train 0.000001 "$weights" 'train-*.dls' --epochs 5 | sed 's/ the loss is.*;/ ...;/'
  train 0.1 "$weights" 'train-*.dls' --epochs 5
done
echo '{"seed": 3, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.1}, "layers": [
  {"type": "output", "units": 3, "class_weights": [1, 1, 1], "activation": "softmax",
   "loss": "negative_log_likelihood"}]}' >n.json
dl-master -q --net n.json --data 'train-*.dls' --normalize none --mode sync --local 1 --epochs 50 -o good.safetensors
{
  points 1 600
  for i in 1 2 3 4 5 6 7 8; do echo "300$i,-600$i,1$i,a"; done
} | dl-preprocess csv --label 4 --classes a,b,c -o outliers.dls
jq '.updater.learning_rate = 1e-12' n.json >slow.json
dl-master -q --fresh --init good.safetensors --net slow.json --data outliers.dls --mode sync --local 1 --epochs 2 \
  --eval-data test.dls -o m.safetensors
echo "status $?"
