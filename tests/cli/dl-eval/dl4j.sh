#!/bin/bash
# Compares evaluations with those that Deeplearning4j recorded for models that it trained:
# how often each class is taken for which, areas under the ROC curves, how often what is
# predicted is so, and histograms.
recorded=$DL_TEST_DATA/dl4j
if [ -z "$DL_TEST_DATA" ] || [ ! -d "$recorded" ]; then
	echo "skipped: the recorded cases of Deeplearning4j are not there" >&2
	exit 77
fi
trained() { # CASE [NORMALIZER]: a zip with the parameters after training
	python3 - "$recorded/$1" "${@:2}" <<'PY'
import sys
import zipfile
with zipfile.ZipFile(f"{sys.argv[1]}/Model_RANDOM_INIT_UNTRAINED.zip") as model, zipfile.ZipFile("trained.zip", "w") as out:
    out.writestr("configuration.json", model.read("configuration.json"))
    with open(f"{sys.argv[1]}/paramsPostTrain.bin", "rb") as trained:
        out.writestr("coefficients.bin", trained.read())
    for name in sys.argv[2:]:
        out.write(name)
PY
}
compare() { # CASE: said.json with what was recorded
	echo "$1:"
	python3 - "$recorded/$1/evaluation" <<'PY'
import base64
import json
import struct
import sys

with open("said.json") as file:
    classes, roc, calibration = json.load(file)["evaluations"]


def recorded(name):
    with open(f"{sys.argv[1]}/{name}.json") as file:
        return json.load(file)


matrix = recorded("0.Evaluation")["confusion"]["matrix"]
theirs = [[int(actual), k, count] for actual, pairs in matrix.items() for k, count in zip(*pairs) if count]
print("confusion", sorted(classes["state"]["confusion"]) == sorted(theirs))
for mine, one in zip(roc["metrics"]["outputs"], recorded("1.ROCMultiClass")["underlying"], strict=True):
    print("ROC", abs(mine["auc"] - one["auc"]) < 1e-12, mine["positives"] == one["countActualPositive"])
theirs = recorded("2.EvaluationCalibration")


def numbers(name, count):  # big-endian, row by row
    if "data" in theirs[name]:
        return theirs[name]["data"]
    data = base64.b64decode(theirs[name]["array"])
    kind = max((b"LONG", b"DOUBLE"), key=data.rfind)  # of the numbers, behind the shape's
    return list(struct.unpack(f">{count}{'q' if kind == b'LONG' else 'd'}", data[data.rfind(kind) + len(kind):]))


outputs = calibration["state"]["outputs"]
for k, mine in enumerate(outputs):
    for at, name in enumerate(("rDiagBinTotalCount", "rDiagBinPosCount")):
        wanted = numbers(name, 10 * len(outputs))[k::len(outputs)]
        print(name, [b[at] for b in mine["bins"]] == wanted, sum(wanted))
    print("probHistogramByLabelClass", mine["positives"] == numbers("probHistogramByLabelClass", 50 * len(outputs))[k::len(outputs)])
overall = [sum(b) for b in zip(*(one[side] for one in outputs for side in ("positives", "negatives")))]
print("probHistogramOverall", overall == numbers("probHistogramOverall", 50))
PY
}
trained MLPMoon
dl-import -q trained.zip -o m.safetensors
dl-preprocess csv -q --label 1 --classes 2 "$recorded/data/moon_data_eval.csv" |
	dl-eval -q --json -e classification -e roc -e calibration --model m.safetensors >said.json
compare MLPMoon
# Its data were standardized, with the first 101 of its sequences in mind.
python3 - "$recorded/data/uci_seq" <<'PY'
import struct
import sys
values = [float(v) for i in range(101) for v in open(f"{sys.argv[1]}/train/features/{i}.csv").read().split()]
mean = sum(values) / len(values)
deviation = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def array(value):
    mode = utf("MIXED_DATA_TYPES")
    return mode + struct.pack(">q", 8) + utf("LONG") + struct.pack(">8q", 2, 1, 1, 1, 1, 8192, 1, 99) + mode + struct.pack(
        ">q", 1) + utf("FLOAT") + struct.pack(">f", value)


with open("normalizer.bin", "wb") as file:
    file.write(utf("NORMALIZER") + struct.pack(">i", 1) + utf("MULTI_STANDARDIZE") + b"\0" + struct.pack(">ii", 1, -1) + array(mean) + array(deviation))
with open("test.csv", "w") as file:
    for i in range(150):
        label = open(f"{sys.argv[1]}/test/labels/{i}.csv").read().split()[-1]
        for value in open(f"{sys.argv[1]}/test/features/{i}.csv").read().split():
            print(i, value, label, sep=",", file=file)
PY
trained RnnCsvSequenceClassification1 normalizer.bin
dl-import -q trained.zip --shape 60,1 -o m.safetensors
dl-preprocess csv -q --sequence 1 --steps 60 --label 3 --classes 6 test.csv |
	dl-eval -q --json -e classification -e roc -e calibration --model m.safetensors >said.json
compare RnnCsvSequenceClassification1
