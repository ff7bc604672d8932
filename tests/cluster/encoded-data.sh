#!/bin/bash
# Pictures that are JPEG in the shards: the model is that of their pixels,
# whether workers open the files or are sent the records.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
python3 - <<'PY'
import os, random
random.seed(1)
for name, low in ("dark", 0), ("light", 120):
    os.makedirs("pictures/" + name)
    for i in range(24):
        with open(f"pictures/{name}/{i}.ppm", "wb") as file:
            file.write(b"P6 8 8 255\n" + bytes(low + random.randrange(120) for _ in range(192)))
PY
make_shards() { # NAME INPUT OPTION...
  local name=$1
  shift
  dl-preprocess images --size 8x8 --no-provenance "$@" |
    dl-shard -q -n 3 --batch 4 --no-provenance -o "$name"
}
make_shards jpeg pictures --store jpeg
# The same pixels, as numbers.
dl-shard --head 48 --json jpeg-*.dls | python3 -c '
import json, sys
for line in sys.stdin:
    example = json.loads(line)
    pixels = [v for row in example["features"] for pixel in row for v in pixel]
    sys.stdout.buffer.write(bytes(pixels) + example["labels"].to_bytes(4, "little"))' >pixels.raw
dl-preprocess raw --shape 8,8,3 --dtype u8 --classes dark,light --examples 48 --no-provenance pixels.raw |
  dl-shard -q -n 3 --batch 4 --no-provenance -o u8
cat >net.json <<'END'
{"seed": 1, "input": {"shape": [8, 8, 3]}, "updater": {"type": "sgd", "learning_rate": 0.01},
 "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
            {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
END
train() {
  local name=$1
  shift
  run "$name" dl-master --net net.json --batch 10 --normalize standardize \
    --bind tcp://127.0.0.1:0 --master-file "$name.json" -o "$name.safetensors" \
    --mode averaging --workers 1 --epochs 2 "$@"
}
train u8 --data 'u8-*.dls'
worker a u8
finish u8
finish a
train files --data 'jpeg-*.dls'
worker b files
finish files
finish b
mkdir elsewhere
train sent --data 'jpeg-*.dls'
worker c sent --data-root elsewhere
finish sent
finish c
check sent.safetensors.run
grep -q "cannot open 3 of the shards" sent.err && echo "records were sent"
cmp files.safetensors sent.safetensors && echo "same bytes"
# Metadata differ by the recipe alone.
python3 - <<'PY'
import json
def weights(name):
    data = open(name, "rb").read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    return {key: data[8 + size + value["data_offsets"][0]:8 + size + value["data_offsets"][1]]
            for key, value in header.items() if key != "__metadata__"}
print("same weights:", weights("u8.safetensors") == weights("files.safetensors"))
PY
# A model says the same of pictures and of a stream of them.
cmp <(dl-infer --model files.safetensors --raw pictures | sed 's/"id":"[^"]*",*//') \
  <(dl-preprocess images --size 8x8 --store jpeg pictures | dl-infer --model files.safetensors | sed 's/"id":"[^"]*",*//') &&
  echo "same predictions"
cat jpeg-*.dls | dl-eval --model files.safetensors --json - >stream.json
dl-eval --model files.safetensors --json 'jpeg-*.dls' | cmp - stream.json && echo "same report"
