#!/bin/bash
# Facts that a user adds to a model whose file lacks them: names of classes, and how bytes
# were normalized; and what the model trains with is said.
golden=$DL_TEST_ROOT/tests/golden/keras
words() {
	dl-import "$golden/words.json" --weights "$golden/words.weights.h5" -o m.safetensors "$@"
	echo "status $?"
}
words --classes odd
words --classes odd,odd
words --classes odd,
words --classes odd,even
printf '1,2,3,0,0,0\n' | dl-preprocess csv -q --label none - | dl-infer -q --model m.safetensors |
	grep -o '"class":"[a-z]*"'
words --normalize scale
dl-import "$golden/words.json" --classes odd,even -o net.json
echo "status $?"
dl-import -q "$golden/pair.keras" --normalize scale -o m.safetensors
echo "status $?"
# Bytes of 0 to 255, for a network of 0 to 1 and of -1 to 1: 51 is 0.2, and -0.6.
python3 - <<'PY'
import json, struct, warnings, zipfile

warnings.simplefilter("ignore")  # of two members with one name

def utf(text):
    return struct.pack(">H", len(text)) + text.encode()

def buffer(values, kind, form):
    return utf("MIXED_DATA_TYPES") + struct.pack(">q", len(values)) + utf(kind) + struct.pack(f">{len(values)}{form}", *values)

conf = {"confs": [{"layer": {"@class": "x.OutputLayer", "nin": 2, "nout": 1, "activationFn": {"@class": "x.ActivationIdentity"},
                             "lossFn": {"@class": "x.LossMSE"}}}]}
numbers = buffer([2, 1, 3, 3, 1, 0, 1, 99], "LONG", "q") + buffer([1, 0, 0], "FLOAT", "f")
for name, members in {"m": [("coefficients.bin", numbers)], "more": [("coefficients.bin", numbers + b"xyz")],
                      "twice": [("coefficients.bin", numbers)] * 2, "none": []}.items():
    with zipfile.ZipFile(name + ".zip", "w") as f:
        f.writestr("configuration.json", json.dumps(conf))
        for member in members:
            f.writestr(*member)
conf["confs"][0]["layer"]["nin"] = 3
with zipfile.ZipFile("three.zip", "w") as f:
    f.writestr("configuration.json", json.dumps(conf))
    f.writestr("coefficients.bin", buffer([2, 1, 4, 4, 1, 0, 1, 99], "LONG", "q") + buffer([1, 0, 0, 0], "FLOAT", "f"))
PY
for kind in scale signed ''; do
	dl-import -q m.zip ${kind:+--normalize $kind} -o m.safetensors
	printf '51,0\n' | dl-preprocess csv -q --dtype u8 --label none - | dl-infer -q --model m.safetensors
done
# The numbers of well-known networks for pictures, by channel: 182 of red is 1 and 58.
dl-import -q m.zip --normalize vgg -o m.safetensors
echo "status $?"
for kind in imagenet vgg; do
	dl-import -q three.zip --normalize $kind -o m.safetensors
	printf '182,0,0\n' | dl-preprocess csv -q --dtype u8 --label none - | dl-infer -q --model m.safetensors
done
# Members of Deeplearning4j's that are not what they have to be.
for name in more twice none; do
	dl-import "$name.zip" -o "$name.safetensors"
	echo "status $?"
done
# The library of others' formats may write no more than the user lets it.
cp "$golden/image.keras" .
(
	ulimit -f 1
	dl-import -q image.keras -o m.safetensors
	echo "status $?"
) 2>&1 | cat
ls ./*.safetensors
