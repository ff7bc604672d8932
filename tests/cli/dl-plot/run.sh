#!/bin/bash
# Page, picture and table of a run; every number of the table is one of events.jsonl.
make-dataset 60 10 1 >data.dls
make-dataset 20 10 2 >held-out.dls
cat >net.json <<'JSON'
{"seed": 1, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
            {"type": "output", "units": 3, "activation": "softmax", "loss": "negative_log_likelihood"}]}
JSON
for mode in sharing averaging; do
  dl-master -q --net net.json --data data.dls --eval-data held-out.dls --mode $mode --local 2 \
    --epochs 3 --batch 5 --evaluate classification --evaluate roc --metric accuracy -o $mode.safetensors >report.txt || exit
done
grep -l curves ./*.run/events.jsonl # which would grow by them each epoch
dl-plot sharing.safetensors.run -o page.html --data numbers.csv
dl-plot sharing.safetensors.run averaging.safetensors.run -o both.html
dl-plot sharing.safetensors.run/events.jsonl -o picture.svg
for text in '<!DOCTYPE html>' 'id="training"' 'id="speed"' 'id="exchange"' 'id="events"' 'id="network"' 'id="settings"' 'id="report"' \
  'Training loss by mini-batch' 'Staleness' 'prefers-color-scheme: dark' '@media print' 'dense1'; do
  grep -qF -e "$text" page.html || echo "the page has no $text"
done
grep -oE 'https?://[^"'"'"']*' page.html | sort -u
for text in 'Differences of settings' '>mode</th>' 'averaging'; do
  grep -qF -e "$text" both.html || echo "the page of both has no $text"
done
python3 - <<'PYTHON'
import csv, json
from xml.dom import minidom
minidom.parse("picture.svg")
events = [json.loads(line) for line in open("sharing.safetensors.run/events.jsonl")]
rows = list(csv.DictReader(open("numbers.csv")))
def values(series):
    return [float(row["value"]) for row in rows if row["series"] == series]
def of(kind, *keys):
    found = []
    for event in events:
        if event["event"] != kind:
            continue
        for key in keys:
            event = event[key]
        found.append(event)
    return found
for series, kind, *keys in [
    ("commit/loss", "commit", "loss"), ("commit/bytes", "commit", "bytes"),
    ("commit/examples", "commit", "examples"), ("commit/staleness", "commit", "staleness"),
    ("epoch/loss", "epoch", "loss"), ("exchange/density", "exchange", "density"),
    ("exchange/threshold", "exchange", "threshold"), ("exchange/staleness_mean", "exchange", "staleness", "mean"),
    ("round/residual", "round", "residual"),
    ("evaluation/classification/accuracy", "evaluation", "metrics", "classification", "accuracy")]:
    want = of(kind, *keys)
    assert want and values(series) == want, (series, values(series), want)
batches = [float(row["batches"]) for row in rows if row["series"] == "commit/loss"]
assert batches == list(range(1, len(batches) + 1)), batches
print("the numbers are those of the history")
PYTHON
