#!/bin/bash
# A line break in a name of a file makes no line of a message.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --local 1 --threads 1 -q --epochs 1 -o m.safetensors >/dev/null
dl-eval --model m.safetensors --json test.dls >report.json
python3 - <<'PY'
import json, struct

blob = open("m.safetensors", "rb").read()
size = struct.unpack("<Q", blob[:8])[0]
head = json.loads(blob[8:8 + size])
forged = "\ndl-infer: all is well"


def write(name, header):
    text = json.dumps(header).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + blob[8 + size:])


tensors = sorted(k for k in head if k != "__metadata__")
write("renamed.safetensors", {k + (forged if k == tensors[0] else ""): v for k, v in head.items()})
write("odd.safetensors", {k: {**v, "x" + forged: 1} if k == tensors[0] else v for k, v in head.items()})
write("bare.safetensors", {**head, tensors[0] + forged: 1})
write("sum.safetensors", {**head, "__metadata__": {**head["__metadata__"], "xxh3": forged}})
report = json.load(open("report.json"))
json.dump({**report, "x" + forged: 1}, open("key.json", "w"))
PY
for model in renamed odd bare sum; do
  dl-infer --model $model.safetensors test.dls
  echo "status $?"
done
dl-eval --merge key.json
echo "status $?"
printf '{"input": {"shape": [3]}}\0{"x": 1}' >nul.json
dl-master --net nul.json --data 'train-*.dls' -o n.safetensors
echo "status $?"
