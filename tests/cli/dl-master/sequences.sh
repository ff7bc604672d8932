#!/bin/bash
# Sequences from a table to predictions: one class for each, and one for each
# of their steps.
signals() { # FIRST LAST: 2 to 6 steps of noise each.  The class is the sign of
            # the first number; a step's, whether the one before was larger.
  awk -v OFS=, -v from="$1" -v to="$2" 'BEGIN {
    print "id", "x", "first", "fell"
    for (i = from; i <= to; ++i) {
      steps = 2 + i % 5; first = 0; before = 0
      for (t = 0; t < steps; ++t) {
        x = ((i * 7919 + t * 104729) % 2003) / 1000 - 1
        if (t == 0) first = x > 0
        print i, x, (first ? "up" : "down"), (before > x ? "yes" : "no")
        before = x
      } } }'
}
csv() { dl-preprocess csv --header --sequence id --steps 6 --no-provenance "$@"; }
# Hides values that depend on the last bits.
hide() {
  sed -E 's/"class":"(up|down|yes|no)"/C/g; s/"probability":[0-9.e-]*/P/g'
}
signals 1 400 >train.csv
signals 401 500 >test.csv
train() { # NAME
  dl-shard -q -n 2 -o "$1" --no-provenance "$1.dls"
  dl-master --net "$1.json" --data "$1-*.dls" --batch 20 --local 2 --threads 1 \
    --epochs 60 --eval-data "$1-test.dls" --target accuracy=0.95 \
    -o "$1.safetensors" --json >report.json 2>log || cat log
  python3 -c 'import json; print(json.load(open("report.json"))["reason"])'
  dl-eval --model "$1.safetensors" --min accuracy=0.95 --json "$1-test.dls" \
    >eval.json || cat eval.json
}

csv --label first --drop fell --classes down,up train.csv -o whole.dls
csv --label first --drop fell --classes down,up test.csv -o whole-test.dls
cat >whole.json <<'JSON'
{"input": {"shape": [6, 1]}, "updater": {"type": "adam", "learning_rate": 0.01},
 "layers": [{"type": "lstm", "units": 8},
            {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
JSON
train whole
dl-infer --model whole.safetensors whole-test.dls | head -n 3 | hide

csv --label fell --drop first --classes no,yes --per-step train.csv -o each.dls
csv --label fell --drop first --classes no,yes --per-step test.csv \
  -o each-test.dls
cat >each.json <<'JSON'
{"input": {"shape": [6, 1]}, "updater": {"type": "adam", "learning_rate": 0.01},
 "tbptt_length": 3,
 "layers": [{"type": "gru", "units": 6, "bidirectional": "concat",
             "return_sequences": true},
            {"type": "dense", "units": 8, "activation": "tanh"},
            {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
JSON
train each
python3 - <<'PY'
import json
counts = json.load(open("eval.json"))["evaluations"][0]["metrics"]["examples"]
print("steps evaluated:", counts)
PY
dl-infer --model each.safetensors each-test.dls | head -n 2 | hide
dl-infer --model each.safetensors --format dls each-test.dls |
  dl-shard --info - 2>&1 | grep -i labels

# A network for sequences of another length.
sed 's/\[6, 1\]/[7, 1]/' each.json >longer.json
dl-master --net longer.json --data 'each-*.dls' -o longer.safetensors
echo $?
