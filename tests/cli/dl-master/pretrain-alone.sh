#!/bin/bash
# Pretraining alone, from data without labels; the model that it leaves goes on with
# data that have some.  Options that do not go together are refused before anything is
# lost.
rows() { # FIRST LAST
  awk -v OFS=, -v from="$1" -v to="$2" 'BEGIN {
    print "a", "b", "c", "kind"
    for (i = from; i <= to; ++i)
      print i * 7919 % 97, i * 104729 % 89, (i % 2) * 50 + i % 7, (i % 2 ? "x" : "y")
  }'
}
rows 1 200 >all.csv
rows 201 240 >few.csv
dl-preprocess csv -q --header --label none --drop kind all.csv -o bare.dls
dl-preprocess csv -q --header --label kind few.csv -o few.dls
cat >net.json <<'JSON'
{"seed": 3, "input": {"shape": [3]},
 "updater": {"type": "adam", "learning_rate": 0.01},
 "layers": [
   {"type": "autoencoder", "name": "low", "units": 6},
   {"type": "autoencoder", "name": "high", "units": 4},
   {"type": "output", "name": "end", "units": 2,
    "loss": "negative_log_likelihood"}]}
JSON
pretrain() { # OPTION...
  dl-master -q --net net.json --data bare.dls --local 1 --mode averaging \
    -o m.safetensors "$@"
  echo "status $?"
}
pretrain --epochs 0 --pretrain 2 | grep -v '^$'
cp m.safetensors first.safetensors
pretrain --epochs 0 --pretrain 2 >/dev/null
cmp m.safetensors first.safetensors && echo "same bytes"

# Others refuse to go on in its folder, and leave it as it is.
pretrain --epochs 0 --pretrain 3
pretrain --epochs 1
pretrain --epochs 0 --pretrain 2 >/dev/null
cmp m.safetensors first.safetensors && echo "same bytes"
pretrain --epochs 0

# The labels of few examples are enough for the rest.
dl-master -q --init m.safetensors --data few.dls --local 1 --mode averaging \
  --epochs 300 -o end.safetensors >/dev/null
dl-eval -q --model end.safetensors few.dls --min accuracy=0.9 >/dev/null
echo "status $?"

# A loss that cannot be of what goes in is known at once.
sed 's/"name": "low"/&, "activation": "tanh"/' net.json >odd.json
dl-master -q --net odd.json --data bare.dls --local 1 --epochs 0 --pretrain 2 \
  -o odd.safetensors
echo "status $?"
[ -e odd.safetensors.run ] || echo "no run"
