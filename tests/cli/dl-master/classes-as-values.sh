#!/bin/bash
# A network for values that learns classes, of several outputs or of one, is
# evaluated for what its labels are.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
sed -i 's/softmax/identity/; s/negative_log_likelihood/mean_squared_error/' net.json
master -q --local 1 --mode averaging --epochs 10 --eval-data test.dls \
  --metric accuracy -o m.safetensors --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["early_stopping"]["best"])' >dl-master.txt
dl-eval -q --model m.safetensors --json test.dls |
  python3 -c '
import json, sys
(e,) = json.load(sys.stdin)["evaluations"]
print(e["metrics"]["accuracy"])
print(e["kind"], file=sys.stderr)' >dl-eval.txt
cmp dl-master.txt dl-eval.txt && echo "the same accuracy"
# Nobody is there to train: it is refused before.
master -q --mode averaging --eval-data test.dls --evaluate regression \
  -o n.safetensors --wait 1h
echo "status $?"
# One output of two classes is how much it is the second.
printf '%s\n' 0,yes 1,no 0,yes 1,no |
  dl-preprocess csv --label 2 --classes yes,no | dl-shard -q -o two >/dev/null
cat >two.json <<'END'
{"seed": 1, "input": {"shape": [1]},
 "updater": {"type": "sgd", "learning_rate": 0.5},
 "layers": [{"type": "output", "units": 1, "activation": "identity",
             "loss": "mean_squared_error"}]}
END
dl-master -q --net two.json --data two-000.dls --eval-data two-000.dls \
  --mode averaging --local 1 --epochs 50 -o two.safetensors
dl-infer --model two.safetensors two-000.dls | grep -o ':{"[a-z]*"' | uniq -c
