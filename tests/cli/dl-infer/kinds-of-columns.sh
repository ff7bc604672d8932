#!/bin/bash
# A variational autoencoder of columns of several kinds, each with the loss that
# fits it: it learns, takes examples whose columns do not belong together for
# unlikely, and draws new ones in the columns' units.
python3 - <<'END'
import random
random.seed(5)
def row(mixed=False):
    kind = random.random() < 0.5
    other = (not kind) if mixed else kind
    return [int(kind), (20 if other else 10) + random.gauss(0, 1),
            (-3 if other else 3) + random.gauss(0, 0.5),
            random.expovariate(1 / 8 if kind else 2)]
for name, mixed in (("train", False), ("same", False), ("mixed", True)):
    with open(name + ".csv", "w") as f:
        for _ in range(600 if name == "train" else 100):
            f.write(",".join(f"{x:.4f}" if i else str(x)
                             for i, x in enumerate(row(mixed))) + "\n")
END
for set in train same mixed; do
  dl-preprocess csv --label none --no-provenance -o $set.dls $set.csv
done
cat >net.json <<'END'
{"seed": 3, "inputs": [{"name": "x", "shape": [4]}],
 "updater": {"type": "adam", "learning_rate": 0.01},
 "nodes": [
   {"name": "yes", "type": "subset", "begin": 0, "end": 1, "from": "x"},
   {"name": "reals", "type": "subset", "begin": 1, "end": 3, "from": "x"},
   {"name": "time", "type": "subset", "begin": 3, "end": 4, "from": "x"},
   {"name": "code", "type": "dense", "units": 16, "activation": "tanh",
    "from": "x"},
   {"name": "both", "type": "dense", "units": 4},
   {"name": "z", "type": "gaussian_latent"},
   {"name": "wide", "type": "dense", "units": 16, "activation": "tanh"},
   {"name": "is", "type": "output", "units": 1, "from": "wide",
    "loss": "binary_cross_entropy", "target": "yes"},
   {"name": "numbers", "type": "output", "units": 2, "from": "wide",
    "loss": "gaussian", "target": "reals"},
   {"name": "lasts", "type": "output", "units": 1, "from": "wide",
    "loss": "exponential", "target": "time"}],
 "outputs": ["is", "numbers", "lasts"]}
END
dl-master --net net.json --data train.dls --eval-data same.dls --batch 20 \
  --epochs 30 --local 1 --threads 1 --mode averaging --json \
  -o m.safetensors >report.json 2>err || cat err
dl-infer --model m.safetensors --score reconstruction --samples 8 same.dls >same
dl-infer --model m.safetensors --score reconstruction --samples 8 mixed.dls >mixed
dl-infer --model m.safetensors --sample 200 --seed 5 >drawn
python3 - <<'END'
import json
history = json.load(open("report.json"))["history"]
assert history[-1]["loss"] < history[0]["loss"] - 1, history
print(sorted(history[-1]["metrics"])[:3])
def scores(name):
    return sorted(json.loads(line)["score"] for line in open(name))
same, mixed = scores("same"), scores("mixed")
assert len(same) == len(mixed) == 100
# Nine of ten that are as what was learnt are likelier than nine of ten others.
assert same[10] > mixed[90], (same[10], mixed[90])
drawn = [json.loads(line) for line in open("drawn")]
first = drawn[0]
print({name: len(first[name]["outputs"]) for name in ("is", "numbers", "lasts")})
for one in drawn:
    yes = one["is"]["outputs"][0]
    a, b = one["numbers"]["outputs"]
    assert 5 < a < 25 and -6 < b < 6 and one["lasts"]["outputs"][0] > 0, one
    if not 0.05 < yes < 0.95:
        assert (a > 15) == (b < 0) == (yes > 0.5), one
END
dl-eval --model m.safetensors --json same.dls | python3 -c '
import json, sys
print(sorted(json.load(sys.stdin))[:4])'
