#!/bin/sh
# Imported models predict as Deeplearning4j's formulas do: each of the models that
# tests/golden/dl4j/make.py wrote.
golden=$DL_TEST_ROOT/tests/golden/dl4j
check() { # NAME OPTION...
	name=$1
	shift
	echo "$name:"
	dl-import -q "$golden/$name.zip" "$@" --check "$golden/$name.npz" --tolerance 1e-5 -o "$name.safetensors" |
		sed 's/difference .*/difference .../'
}
check image --shape 9,10,3
check same --shape input=2,8,7
check rows
check recurrent --shape 6,4
check directions --shape 3,5
check last --shape 5,3
check legacy --shape 4,3
check word
check text
check volume --shape 4,6,4,2
check vertices
check residual --shape 5,4,2
check translate --shape 5,3
check film --shape 3,24
check functions
check nhwc --shape 6,5,3
check nwc --shape 6,4
check solid --shape 3,4,2,2
check attends --shape 5,4
check boxes --shape 4,3,3
check means --shape 7,3
check codes
check early
check between
check words --shape 3
check keras
# State of updaters, in DL4J's blocks of neighbors with one updater, and of early
# versions by parameter.
for name in functions codes early between; do
	python3 - $name.safetensors <<'PY'
import json, struct, sys
with open(sys.argv[1], "rb") as f:
    n = struct.unpack("<Q", f.read(8))[0]
    header = json.loads(f.read(n))
    for name, tensor in header.items():
        if name.startswith("updater/"):
            begin, end = tensor["data_offsets"]
            f.seek(8 + n + begin)
            values = struct.unpack(f"<{(end - begin) // 4}f", f.read(end - begin))
            print(name, tensor["shape"], values[0], values[-1])
    print(header["__metadata__"].get("normalizer"))
    print(header["__metadata__"]["training"])
PY
done
# A configuration alone, and what training is of an early version.
python3 - <<'PY'
import os, zipfile
root = os.environ["DL_TEST_ROOT"] + "/tests/golden/dl4j/"
with open("legacy.json", "wb") as f:
    f.write(zipfile.ZipFile(root + "legacy.zip").read("configuration.json"))
PY
dl-import legacy.json --shape 4,3 -o net.json
cat net.json
# Updaters of 0.9, whose rates stand beside them.
dl-export between.safetensors -o net.json
grep -A 8 '"bias_updater"' net.json
grep -A 14 '"momentum"' net.json | head -8
