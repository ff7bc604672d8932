#!/bin/sh
# Models of another program continue from the state of their updaters, and from the steps
# that they have behind them; sharing starts them afresh.
dl-import -q "$DL_TEST_ROOT/tests/golden/dl4j/functions.zip" -o model.safetensors 2>/dev/null
i=0
while [ $i -lt 8 ]; do
	echo "$i,$((i % 3)),$((i * 2)),$((i % 2))"
	i=$((i + 1))
done | dl-preprocess csv --label 4 --classes 2 -o data.dls
for mode in sync averaging sharing; do
	dl-master --init model.safetensors --data data.dls --mode $mode --batch 8 --local 1 --threads 1 -q -o $mode.safetensors
	python3 - $mode.safetensors.run <<'PY'
import glob, json, struct, sys
for path in sorted(glob.glob(sys.argv[1] + "/checkpoint-*.safetensors")):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(n))
        steps = json.loads(header["__metadata__"]["training"])["iteration"]
        velocity = "afresh"
        if "updater/out/bias/v" in header and "sharing" not in path:
            f.seek(8 + n + header["updater/out/bias/v"]["data_offsets"][0])
            velocity = round(struct.unpack("<f", f.read(4))[0])
        print(path, steps, velocity)
PY
done
