#!/bin/bash
# Summaries of a run's parameters, in its history and drawn: in each mode every layer
# has its norm and how far it moved, and the last norm is that of the model.
make-dataset 60 10 1 >data.dls
cat >net.json <<'JSON'
{"seed": 1, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
            {"type": "output", "units": 3, "activation": "softmax", "loss": "negative_log_likelihood"}]}
JSON
for mode in sharing averaging sync; do
  dl-master -q --net net.json --data data.dls --mode $mode --local 1 --epochs 3 --batch 5 --summary 2 --keep last \
    -o $mode.safetensors >report.txt || exit
  dl-plot $mode.safetensors.run -o $mode.html --data $mode.csv
  for text in 'id="layers"' 'id="ratio"' 'id="norms"' 'id="rates"' 'Parameters of dense1'; do
    grep -qF -e "$text" $mode.html || echo "the page of $mode has no $text"
  done
done
python3 - <<'PYTHON'
import csv, json, math, struct
for mode in ("sharing", "averaging", "sync"):
    events = [json.loads(line) for line in open(f"{mode}.safetensors.run/events.jsonl")]
    summaries = [event for event in events if event["event"] == "summary"]
    assert summaries, mode
    for summary in summaries:
        assert list(summary["layers"]) == ["dense1", "output1"]
        assert summary["since"] < summary["batches"], summary
        for name, size in (("dense1", 16), ("output1", 15)):
            layer = summary["layers"][name]
            assert layer["learning_rate"] == 0.05
            for spread in (layer["parameters"], layer["change"]):
                assert sum(spread["counts"]) == size, (mode, spread)
            assert layer["parameters"]["norm"] > 0
    assert sum(summary["layers"]["dense1"]["change"]["norm"] for summary in summaries) > 0, mode
    with open(f"{mode}.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    def norm(layer):
        squares = 0
        for name, entry in header.items():
            if name.startswith(layer + "/"):
                first, last = entry["data_offsets"]
                squares += sum(x * x for x, in struct.iter_unpack("<f", data[first:last]))
        return math.sqrt(squares)
    last = summaries[-1]
    assert last["batches"] == 36, (mode, last["batches"])
    for name in ("dense1", "output1"):
        assert abs(last["layers"][name]["parameters"]["norm"] - norm(name)) < 1e-6, mode
    rows = [row for row in csv.DictReader(open(f"{mode}.csv")) if row["series"] == "summary/norm/dense1"]
    assert [float(row["value"]) for row in rows] == [s["layers"]["dense1"]["parameters"]["norm"] for s in summaries]
    print(mode, "ok")
PYTHON
dl-master --net net.json --data data.dls --summary -1 -o x.safetensors
echo "status $?"
dl-master --net net.json --data data.dls --summary 1 --dry-run
echo "status $?"
# Nodes without parameters take no place of layers that have some.
mkdir nodes.run
python3 - >nodes.run/events.jsonl <<'PYTHON'
import json
spread = {"norm": 2, "mean": 0, "low": -1, "high": 1, "counts": [1] * 20}
bins = {"count": 1, "mean": 1, "rms": 1, "low": 1, "high": 1, "bins": [[1, 1]]}
print(json.dumps({"event": "start", "mono": 0, "incarnation": 1}))
for at in (1, 2):
    layers = {}
    for i in range(22):
        has = i % 7 == 1
        layers[f"n{i:02}"] = {"activations": bins} | ({"parameters": spread, "change": spread, "learning_rate": 0.1, "gradients": bins} if has else {})
    print(json.dumps({"event": "summary", "mono": at, "incarnation": 1, "epoch": 0, "batches": 10 * at, "since": 10 * at - 10, "layers": layers}))
PYTHON
dl-plot nodes.run -o nodes.html
python3 - <<'PYTHON'
import re
page = open("nodes.html").read()
for name in ("ratio", "norms", "gradient-sizes", "activation-sizes"):
    chart = page[page.find(f'id="{name}"'):]
    print(name, *sorted(set(re.findall(r"n\d\d", chart[:chart.find("</figure>")]))))
PYTHON
grep -c 'Gradients of n' nodes.html
