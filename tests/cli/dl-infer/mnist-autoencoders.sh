#!/bin/bash
# Real digits: a denoising autoencoder learns, and a variational one that knows
# ones alone takes other digits for unlikely.
[ -n "$DL_TEST_DATA" ] || { echo "no real data at DL_TEST_DATA" >&2; exit 77; }
python3 - "$DL_TEST_DATA/mnist" <<'END'
import gzip, struct, sys
def read(name):
    with gzip.open(f"{sys.argv[1]}/{name}") as f:
        return f.read()
images, labels = read("t10k-images-idx3-ubyte.gz"), read("t10k-labels-idx1-ubyte.gz")
def write(name, wanted, first, last):
    chosen = [i for i in range(10000) if labels[8 + i] in wanted][first:last]
    with open(name, "wb") as f:
        f.write(struct.pack(">IIII", 2051, len(chosen), 28, 28))
        for i in chosen:
            f.write(images[16 + 784 * i:16 + 784 * (i + 1)])
write("digits", range(10), 0, 1000)
write("ones", [1], 0, 900)
write("more-ones", [1], 900, 1000)
write("others", [0, 2, 5, 8], 0, 100)
END
for set in digits ones more-ones others; do
  dl-preprocess idx --no-labels $set -o $set.dls
done
end='"units": 784, "loss": "binary_cross_entropy", "target": "features"'
cat >denoising.json <<END
{"seed": 1, "input": {"shape": [28, 28, 1]}, "updater": {"type": "adam"},
 "layers": [
   {"type": "dropout", "rate": 0.3},
   {"type": "dense", "units": 64, "activation": "relu"},
   {"type": "activity_regularization", "l1": 0.001},
   {"type": "output", $end}]}
END
cat >variational.json <<END
{"seed": 1, "input": {"shape": [28, 28, 1]},
 "updater": {"type": "adam", "learning_rate": 0.003},
 "layers": [
   {"type": "dense", "units": 64, "activation": "relu"},
   {"type": "dense", "units": 8},
   {"type": "gaussian_latent"},
   {"type": "dense", "units": 64, "activation": "relu"},
   {"type": "output", $end}]}
END
train() { # NET DATA
  dl-master --net "$1.json" --data "$2.dls" --batch 50 --epochs 5 --local 1 \
    --mode averaging --json -o "$1.safetensors" 2>/dev/null
}
train denoising digits >denoising.report
train variational ones >variational.report
dl-infer --model variational.safetensors --score reconstruction --samples 4 \
  more-ones.dls >ones.scores
dl-infer --model variational.safetensors --score reconstruction --samples 4 \
  others.dls >others.scores
dl-infer --model variational.safetensors --sample 3 --seed 5 >drawn
dl-infer --model variational.safetensors --sample 3 --seed 5 --format dls -o drawn.dls
dl-infer --model denoising.safetensors --score reconstruction others.dls >errors
python3 - <<'END'
import json
for name in "denoising", "variational":
    history = json.load(open(name + ".report"))["history"]
    assert history[-1]["loss"] < 0.6 * history[0]["loss"], history
def scores(name):
    return sorted(json.loads(line)["score"] for line in open(name))
ones, others = scores("ones.scores"), scores("others.scores")
assert len(ones) == len(others) == len(scores("errors")) == 100
# Nine of ten ones are likelier than nine of ten others.
assert ones[10] > others[90], (ones[10], others[90])
for line in open("drawn"):
    pixels = json.loads(line)["outputs"]
    assert len(pixels) == 784 and 0 <= min(pixels) and 100 < max(pixels) <= 255
END
dl-shard --info drawn.dls | grep -c labels
dl-infer --model denoising.safetensors --sample 3
dl-infer --model variational.safetensors --score likelihood others.dls
dl-infer --model variational.safetensors --sample 0
dl-master --net denoising.json --data others.dls --normalize none --dry-run
