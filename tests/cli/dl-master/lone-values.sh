#!/bin/bash
# Batch normalization of one value a channel: nothing is learnt of it, which is
# said, and running statistics count it as one example.
awk 'BEGIN { for (i = 0; i < 65; ++i) print i * 37 % 65 / 10 "," i * 11 % 13 "," i % 2 }' |
  dl-preprocess csv --label 3 --classes 0,1 --no-provenance -o data.dls
net() { # LAYERS
  cat <<END
{"seed": 1, "input": {"shape": [2]}, "updater": {"type": "sgd", "learning_rate": 0.0},
 "layers": [$1{"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
}
net '{"type": "batch_norm"}, ' >norm.json
net '' >plain.json
net '{"type": "reshape", "shape": [2, 1]}, {"type": "batch_norm"}, {"type": "flatten"}, ' >two.json
train() { # NETWORK BATCH OPTION...
  echo "$1 $2"
  dl-master -q --net "$1.json" --data data.dls --normalize none --threads 2 --fresh \
    --on-divergence ignore \
    --batch "$2" -o m.safetensors "${@:3}" 2>err
  echo "status $?"
  grep -v 'nothing was learnt' err
}
for batch in 1 64 65 100; do train norm $batch --local 1 --epochs 1; done
train plain 64 --local 1 --epochs 1
train two 64 --local 1 --epochs 1
# In every mode, with one worker and two: what 65 examples have, however they are cut.
variance() {
  python3 - <<'END'
import json, struct
data = open("m.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
entry = json.loads(data[8:8 + size])["batch_norm1/running_variance"]
begin, end = entry["data_offsets"]
got = struct.unpack("<2f", data[8 + size + begin:8 + size + end])
rows = [(i * 37 % 65 / 10, i * 11 % 13) for i in range(65)]
for column, value in enumerate(got):
    mean = sum(row[column] for row in rows) / 65
    want = sum((row[column] - mean) ** 2 for row in rows) / 65
    print("right" if abs(value / want - 1) < 0.06 else f"{value} and not {want}")
END
}
for mode in sync averaging sharing; do
  for workers in 1 2; do
    echo "$mode, workers: $workers"
    train norm 64 --mode $mode --local $workers --epochs 100 | grep status
    variance
  done
done
