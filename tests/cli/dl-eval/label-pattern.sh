#!/bin/bash
# Classes of raw pictures by their names, for a model that learned them from folders.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
for i in 1 2 3 4; do
  for class in ant bee; do
    level=$([ $class = ant ] && echo 20 || echo 220)
    mkdir -p train/$class flat && printf 'P5 1 1 255\n%b' "\\x$(printf %02x $((level + i)))" >train/$class/$i.pgm
    cp train/$class/$i.pgm flat/$class-$i.pgm
  done
done
echo '{"input": {"shape": [1, 1, 1]}, "seed": 1, "updater": {"type": "sgd", "learning_rate": 1}, "layers": [
  {"type": "flatten"}, {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-preprocess images -q --size 1x1 --color grey train -o train.dls
dl-master -q --net net.json --data train.dls --local 1 --epochs 30 --batch 8 -o m.safetensors
model=m.safetensors
evaluate() { dl-eval --model $model --raw "$@" 2>&1 | grep -E 'accuracy|^dl-eval'; }
evaluate train
evaluate flat
evaluate flat --label-pattern '^(\w+)-'
evaluate flat --label-pattern '^(\w+)-' --label-from name
evaluate flat --label-pattern '(\d)'
evaluate flat --label-pattern '(x)'
evaluate flat --label-pattern '('
tar -C flat -cf flat.tar . && evaluate flat.tar --label-pattern '^(\w+)-'
dl-eval --model m.safetensors --label-pattern '(.)' train.dls
echo "status $?"
echo '== tables'
printf 'x,y,kind\n1,2,a\n3,4,b\n' >t.csv
jq -n '{input: {shape: [1]}, seed: 1, layers: [{type: "output", units: 1, activation: "identity", loss: "mean_squared_error"}]}' >net.json
dl-preprocess csv -q --header --regression --label y --drop kind t.csv -o t.dls
dl-master -q --net net.json --data t.dls --local 1 --epochs 1 --batch 2 --on-divergence ignore -o t.safetensors
model=t.safetensors
evaluate t.csv --label-pattern '(.)'
evaluate t.csv --labels t.csv
