#!/bin/bash
# A network whose target is its input trains on data without labels, and on the
# same with labels as if there were none.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
points 1 120 | cut -d, -f1-3 |
  dl-preprocess csv --label none --no-provenance -o bare.dls
cat >net.json <<'END'
{"seed": 3, "input": {"shape": [3]},
 "updater": {"type": "adam", "learning_rate": 0.03},
 "layers": [
   {"type": "dense", "units": 2, "activation": "tanh"},
   {"type": "output", "units": 3, "loss": "mean_squared_error",
    "target": "features"}]}
END
run() { # DATA MODEL
  dl-master --net net.json --data "$1" --eval-data bare.dls --batch 8 \
    --mode averaging --local 1 --threads 1 --epochs 20 --json -o "$2" 2>/dev/null
}
run bare.dls bare.safetensors >report.json
python3 - <<'END'
import json
history = json.load(open("report.json"))["history"]
first, last = history[0], history[-1]
assert last["loss"] < 0.3 * first["loss"], (first, last)
print(sorted(last["metrics"]))
END
run 'train-*.dls' labeled.safetensors >/dev/null
# Its output is its input, in the same units; labels are not looked at.
dl-eval --model labeled.safetensors --max rmse=0.25 bare.dls | tail -n 1 | cut -c 1-4
dl-eval --model labeled.safetensors test.dls | tail -n 1 | cut -c 1-4
dl-infer --model bare.safetensors test.dls | head -n 1 |
  sed 's/[0-9]\.[0-9.e-]*/X/g'
# Probabilities of features that are no such thing are refused.
sed 's/mean_squared_error/binary_cross_entropy/' net.json >binary.json
dl-master --net binary.json --data bare.dls --normalize standardize --dry-run
dl-master --net binary.json --data bare.dls --dry-run --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["configuration"]["normalizer"]["kind"])'
