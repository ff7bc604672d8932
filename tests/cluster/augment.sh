#!/bin/bash
# Augmentation draws by seed, epoch and example: in the modes that are the same
# every time, models do not depend on workers, their threads or their number, and
# evaluation sees pictures as they are.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
python3 - <<'PY'
import random, struct
random.seed(5)
for name, count in (("train", 96), ("test", 48)):
    labels = bytes(i % 3 for i in range(count))
    pixels = b"".join(bytes(min(255, random.randrange(60) + 190 * (x // 4 == label)) for y in range(12) for x in range(12))
                      for label in labels)
    open(name + "-images", "wb").write(struct.pack(">IIII", 2051, count, 12, 12) + pixels)
    open(name + "-labels", "wb").write(struct.pack(">II", 2049, count) + labels)
PY
dl-preprocess idx train-images train-labels | dl-shard -q -n 3 --batch 8 -o train
dl-preprocess idx test-images test-labels -o test.dls
net() { # STEPS
  cat <<END
{"seed": 3, "input": {"shape": [12, 12, 1]}, $1
 "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"}, {"type": "flatten"},
   {"type": "output", "units": 3, "activation": "softmax", "loss": "negative_log_likelihood"}]}
END
}
net '"augment": [{"type": "flip", "direction": "vertical"}, {"type": "crop", "padding": 1},
  {"type": "gaussian_noise", "sigma": 0.05}, {"type": "mixup", "p": 0.5}],' >augmented.json
net "" >plain.json
train() { # NAME NET MODE WORKERS THREADS
  dl-master -q --net "$2" --data 'train-*.dls' --eval-data test.dls --batch 8 --epochs 2 \
    --mode "$3" --local "$4" --threads "$5" --run "$1.run" --fresh -o "$1.safetensors" 2>"$1.err" ||
    fail "$1"
}
weights() { python3 -c '
import hashlib, json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
print(hashlib.sha256(data[8 + size:]).hexdigest())' "$1.safetensors"; }

# Sums of gradients are of one thread each here, so the bytes are the same.
train one augmented.json averaging 1 1
train again augmented.json averaging 1 1
train plain plain.json averaging 1 1
[ "$(weights one)" = "$(weights again)" ] && echo "the same every time"
[ "$(weights one)" != "$(weights plain)" ] && echo "other examples than without"
train two augmented.json sync 2 1
train two-again augmented.json sync 2 1
[ "$(weights two)" = "$(weights two-again)" ] && echo "the same in sync"
# Nothing is learnt, so that scores tell what was evaluated.
for net in augmented plain; do
  jq '.updater.learning_rate = 0' $net.json >still-$net.json
  train still-$net still-$net.json averaging 1 1
  jq -c 'select(.event == "evaluation") | .metrics' still-$net.run/events.jsonl >$net.scores
done
[ -s plain.scores ] && cmp augmented.scores plain.scores && echo "evaluation sees the same"
