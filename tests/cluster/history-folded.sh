#!/bin/bash
# A history that is folded again and again while masters and workers die proves all
# the same that each mini-batch counts once; a master that is killed between the fold
# and its place leaves the history as it was.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
folds() {
  local i
  for ((i = 50; i < 1000; i += 50)); do printf 'history.fold=nan@%d;' "$i"; done
}
train() { # FAILPOINTS
  DL_FAILPOINTS="$(folds)$1" \
    master m --mode sharing --epochs 8 --min-workers 2 --checkpoint-batches 20
}
train master.after_commit=kill@230
worker a m
DL_FAILPOINTS=worker.after_batch=kill@60 worker b m
finish b
worker b2 m
finish m
train publish.rename=kill@1
finish m
train ''
finish m
finish a
finish b2
check m.safetensors.run
event m.safetensors.run '"event":"fold"' || fail "it was not folded"
event m.safetensors.run '"event":"commits"' || fail "nothing was summed"
find m.safetensors.run -mindepth 1 ! -name 'checkpoint*' ! -name 'updates*' ! -name 'lock*' -printf '%P\n' | LC_ALL=C sort
# It is drawn as one that was not folded.
dl-plot m.safetensors.run --data m.csv
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("m.csv")))
examples = sum(float(r["value"]) for r in rows if r["series"] == "commit/examples")
print(examples, "examples in", max(int(r["epoch"]) for r in rows) + 1, "epochs")
PY
# Sums that were tampered with are refused.
try() { # NAME PYTHON: changes the first sum, `s`
  mkdir "$1"
  python3 - "$1" "$2" <<'PY'
import json, sys
e = [json.loads(l) for l in open('m.safetensors.run/events.jsonl')]
s = next(x for x in e if x['event'] == 'commits')
w = next(iter(s['workers'].values()))
exec(sys.argv[2])
open(sys.argv[1] + '/events.jsonl', 'w').writelines(json.dumps(x) + '\n' for x in e)
PY
  "$DL_TEST_ROOT/tests/cluster/check-events" "$1" 2>"$1.err" >/dev/null && fail "$1 was accepted"
  sed 's/^[^ ]* //; s/: {.*//; s/[0-9][0-9]*/N/g' "$1.err"
}
try twice 'e.insert(e.index(s), s)'
try more 's["committed"][0][1] += 1; s["committed"][0][2] += 10'
try told 'w["batches"] -= 1'
try stranger 's["workers"]["99"] = s["workers"].pop(next(iter(s["workers"])))'
