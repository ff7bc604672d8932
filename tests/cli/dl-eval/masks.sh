#!/bin/bash
# Padding that a layer finds is none that counts: not in metrics, on one host
# nor by workers, nor in what dl-infer writes.
signals() { # FIRST LAST PADDING: 2 to 6 steps, then PADDING up to 6, if it is
            # given.  A step's class: whether the one before was larger.
  awk -v OFS=, -v from="$1" -v to="$2" -v padding="$3" 'BEGIN {
    print "id", "x", "fell"
    for (i = from; i <= to; ++i) {
      steps = 2 + i % 5; before = 0
      for (t = 0; t < steps; ++t) {
        x = ((i * 7919 + t * 104729) % 2003) / 1000 - 1
        print i, x, (before > x ? "yes" : "no")
        before = x
      }
      for (; t < 6 && padding; ++t) print i, padding, "no"
    } }'
}
csv() {
  dl-preprocess csv -q --header --sequence id --steps 6 --no-provenance \
    --label fell --classes no,yes --per-step "$@"
}
signals 1 200 -9 | csv | dl-shard -q -n 2 --no-provenance -o train
signals 201 250 -9 | csv -o found.dls # all steps are there, says its mask
signals 201 250 | csv -o told.dls
cat >net.json <<'JSON'
{"seed": 5, "input": {"shape": [6, 1]},
 "updater": {"type": "adam", "learning_rate": 0.01},
 "layers": [{"type": "masking", "value": -9},
            {"type": "gru", "name": "state", "units": 6,
             "return_sequences": true},
            {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
JSON
dl-master -q --net net.json --data 'train-*.dls' --normalize none --local 2 \
  --deterministic --epochs 4 --eval-data found.dls -o m.safetensors --run run \
  >/dev/null || exit
evaluate() { dl-eval --model m.safetensors --json "$1.dls"; }
evaluate found >found.json
evaluate told >told.json
cmp found.json told.json && echo "metrics are those of a mask from outside"
python3 - <<'PY'
import json
metrics = json.load(open("found.json"))["evaluations"][0]["metrics"]
print("steps evaluated:", metrics["examples"], "of", 50 * 6)
runs = [json.loads(line) for line in open("run/events.jsonl")]
best = [e["early_stopping"]["best"] for e in runs if "early_stopping" in e][-1]
print("workers' accuracy is dl-eval's:", best == metrics["accuracy"])
PY

echo '== lines'
infer() { dl-infer -q --model m.safetensors "$@"; }
infer found.dls >found.jsonl
infer told.dls | cmp - found.jsonl
python3 - <<'PY'
import json
for line in list(open("found.jsonl"))[:3]:
    print(["null" if s is None else "step" for s in json.loads(line)["steps"]])
PY

echo '== streams'
for node in '' state; do
  for data in found told; do
    infer --format dls --no-provenance ${node:+--output-of $node} $data.dls \
      >$data-said.dls
    dl-shard --info $data-said.dls | grep mask
  done
  cmp found-said.dls told-said.dls
done
