#!/bin/bash
# A model without names of classes, as imported ones are, takes classes that are
# called by numbers for these, in whatever order data have them; of words it warns.
python3 -B - <<'PY'
import json
import struct

json.dump({"input": {"shape": [3]}, "layers": [
    {"type": "output", "name": "o", "units": 3, "loss": "negative_log_likelihood"}]},
    open("net.json", "w"))
header, data = {}, b""
for name, shape, numbers in (("w", [3, 3], [9, 0, 0, 0, 9, 0, 0, 0, 9]), ("b", [3], [0, 0, 0])):
    values = struct.pack(f"<{len(numbers)}f", *numbers)
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
open("state.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
PY
echo '{"o/weight": "w", "o/bias": "b"}' >map.json
dl-import -q --weights state.safetensors --net net.json --map map.json -o m.safetensors
examples() { # NAMES: 2, 0 and 1 as they are called
  printf '%s\n' 0,0,1 1,0,0 0,1,0 0,0,1 | paste -d, - <(printf '%s\n' "$@")
}
accuracy() { dl-eval --json --model "$@" | grep -o '"accuracy":[0-9.]*'; }
examples 2 0 1 2 | dl-preprocess csv -q --label -1 -o numbers.dls
examples cat ant bee cat | dl-preprocess csv -q --label -1 -o words.dls
accuracy m.safetensors numbers.dls
echo '-- from a pipe, whose names come at its end'
accuracy m.safetensors <numbers.dls
echo "-- a model that is trained on, without labels too"
for data in numbers words; do
  dl-master -q --init m.safetensors --data $data.dls --batch 4 --local 1 \
    -o $data.safetensors >/dev/null
  accuracy $data.safetensors $data.dls
  dl-infer --model $data.safetensors numbers.dls | grep -o '"class":"[a-z0-9]*"' | paste -s
done
