#!/bin/bash
# What Deeplearning4j recorded of its own evaluations, of a model that it trained: areas
# under the ROC curves, and how often what is predicted is so.
recorded=$DL_TEST_DATA/dl4j
if [ -z "$DL_TEST_DATA" ] || [ ! -d "$recorded" ]; then
	echo "skipped: the recorded cases of Deeplearning4j are not there" >&2
	exit 77
fi
python3 - "$recorded/MLPMoon" <<'PY'
import sys
import zipfile
with zipfile.ZipFile(f"{sys.argv[1]}/Model_RANDOM_INIT_UNTRAINED.zip") as model, zipfile.ZipFile("trained.zip", "w") as out:
    out.writestr("configuration.json", model.read("configuration.json"))
    with open(f"{sys.argv[1]}/paramsPostTrain.bin", "rb") as trained:
        out.writestr("coefficients.bin", trained.read())
PY
dl-import -q trained.zip -o m.safetensors
dl-preprocess csv -q --label 1 --classes 2 "$recorded/data/moon_data_eval.csv" |
	dl-eval -q --json -e roc -e calibration --model m.safetensors >said.json
python3 - "$recorded/MLPMoon/evaluation" <<'PY'
import base64
import json
import struct
import sys

with open("said.json") as file:
    roc, calibration = json.load(file)["evaluations"]
with open(f"{sys.argv[1]}/1.ROCMultiClass.json") as file:
    theirs = json.load(file)["underlying"]
for mine, one in zip(roc["metrics"]["outputs"], theirs, strict=True):
    print("ROC", abs(mine["auc"] - one["auc"]) < 1e-12, mine["positives"] == one["countActualPositive"])
with open(f"{sys.argv[1]}/2.EvaluationCalibration.json") as file:
    theirs = json.load(file)


def bins(name):  # [bin][class], big-endian
    data = base64.b64decode(theirs[name]["array"])
    return struct.unpack(">20q", data[data.rindex(b"LONG") + 4:])


for k, mine in enumerate(calibration["state"]["outputs"]):
    for at, name in enumerate(("rDiagBinTotalCount", "rDiagBinPosCount")):
        print(name, [b[at] for b in mine["bins"]] == list(bins(name)[k::2]), sum(bins(name)[k::2]))
PY
