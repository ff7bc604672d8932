#!/bin/bash
# A network starts from a model of another one: layers of the same names and
# shapes are taken over, classes are those of the data.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
dl-master -q --net net.json --data 'train-*.dls' --batch 8 --epochs 20 \
  --local 1 --deterministic -o a.safetensors >/dev/null
points 1 80 | tr ab no | sed 's/c$/n/' |
  dl-preprocess csv --label 4 --classes n,o --no-provenance -q -o two.dls
cat >two.json <<'END'
{"seed": 3, "input": {"shape": [3]},
 "updater": {"type": "adam", "learning_rate": 0.01},
 "layers": [
   {"type": "dense", "name": "dense1", "units": 8, "activation": "tanh",
    "frozen": true},
   {"type": "dense", "name": "more", "units": 4, "activation": "relu"},
   {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
start() { dl-master --init a.safetensors --data two.dls --batch 8 "$@"; }
start -q --net two.json --dry-run | sed -n '/^parameters/,/^layers/p'
start -q --net two.json --dry-run --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["transfer"])'
start --net two.json --epochs 20 --local 1 --deterministic -o b.safetensors \
  2>log >/dev/null || cat log
grep 'taken over' log
dl-eval --model b.safetensors --min accuracy=0.9 two.dls >/dev/null && echo learnt
dl-infer --model b.safetensors two.dls | grep -o '"class":"[^"]*"' | sort -u
# Frozen layers give the same values as before; the normalizer is the model's.
for model in a b; do
  dl-infer --model $model.safetensors --output-of dense1 two.dls >$model.jsonl
done
cmp a.jsonl b.jsonl && echo same

# The same network, but for what is drawn anew: other classes fit then.
start -q --reset output1 --dry-run 2>&1 | grep '^layers'
start -q --reset outptu1 --dry-run
start -q --reset output1 --reset dense1 --dry-run
dl-master --net two.json --reset more --dry-run
sed 's/"frozen": true/"frozen": false/; s/dense1/other/' two.json >other.json
start -q --net other.json --dry-run
cat >still.json <<'END'
{"input": {"shape": [3]}, "layers": [
 {"type": "output", "units": 2, "loss": "l2", "frozen": true}]}
END
dl-master --net still.json --dry-run

# Frozen layers that are not taken over would stay random.
dl-master --net two.json --dry-run 2>&1 >/dev/null | grep frozen
