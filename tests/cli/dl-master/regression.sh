#!/bin/bash
# Targets far from 0 are learnt by default, in both modes, and predicted in their
# own units; a run that was stopped, and the update log, know of it.
table() { # FROM TO
  awk -v OFS=, -v from="$1" -v to="$2" 'BEGIN {
    print "a", "b", "price"
    for (i = from; i <= to; ++i) {
      a = i * 37 % 100; b = i * 61 % 90 / 1e7
      print a, b, 10000 + a + 3e7 * b
    } }' | dl-preprocess csv --header --label price --regression --no-provenance
}
table 1 400 | dl-shard -q -n 2 -o train >/dev/null
table 401 500 | dl-shard -q -o test >/dev/null
cat >net.json <<'END2'
{"seed": 3, "input": {"shape": [2]},
 "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "output", "units": 1, "activation": "identity",
             "loss": "mean_squared_error"}]}
END2
master() { dl-master -q --net net.json --data 'train-*.dls' --batch 8 "$@"; }
for mode in averaging sharing; do
  master --mode $mode --local 1 --epochs 6 --metric rmse --eval-data test-000.dls \
    --update-log keep -o $mode.safetensors --json >report.json
  dl-eval -q --model $mode.safetensors --min r2=0.99 --max rmse=20 \
    test-000.dls >/dev/null
  echo "$mode $?"
  # The workers' scores are those of dl-eval.
  python3 - <<'END2'
import json
r = json.load(open("report.json"))["early_stopping"]
assert r["best"] < 20, r
END2
  dl-master -q --replay $mode.safetensors.run -o replayed.safetensors
  cmp $mode.safetensors replayed.safetensors
done
dl-infer -q --model sharing.safetensors test-000.dls |
  python3 -c 'import json, sys
for line in sys.stdin:
    assert 9990 < json.loads(line)["outputs"]["price"] < 10400, line'
# Started again from the model, it stays as good.
dl-master -q --init sharing.safetensors --data 'train-*.dls' --local 1 \
  --epochs 1 -o more.safetensors
dl-eval -q --model more.safetensors --min r2=0.999 test-000.dls >/dev/null
echo "init $?"
grep -ao '"version":"2.0"' sharing.safetensors
master --normalize-targets none --local 1 -o plain.safetensors
grep -aoE '"version":"[12].0","xxh3|target_normalizer' plain.safetensors
master --normalize-targets best --local 1 -o plain.safetensors --fresh
