#!/bin/bash
# A commit of many mini-batches is called that; where nothing is exchanged there is
# no chart of it; of two runs a lone line is named, and long lists are cut.
python3 - <<'PYTHON'
import json, os
for run, count in ("a", 18), ("b", 1):
    os.mkdir(run + ".run")
    with open(run + ".run/events.jsonl", "w") as file:
        events = [{"event": "start", "epochs": 1},
                  {"event": "commit", "first": 0, "count": count, "loss": 1, "examples": 10, "bytes": 0, "worker": 1},
                  {"event": "exchange", "worker": 1, "batches": 18, "bytes": 0, "threshold": 0, "density": 0}]
        for event in events + [{"event": "epoch", "loss": 1}] * (run == "a"):
            file.write(json.dumps({"mono": 1, "incarnation": 1, "epoch": 0} | event) + "\n")
    with open(run + ".run/run.json", "w") as file:
        json.dump({"settings": {}, "normalizer": {"mean": [number + count for number in range(784)]}}, file)
PYTHON
for runs in a.run b.run 'a.run b.run'; do
  # shellcheck disable=SC2086 # two words
  dl-plot $runs -o page.html
  grep -oE 'data-line="0">[^<]+|<section id="exchange"|normalizer.mean</th>.*|</h2>Exchange' page.html
done
