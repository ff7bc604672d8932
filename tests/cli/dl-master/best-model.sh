#!/bin/bash
# The model of the best epoch is written, also when the master died after it and
# before a checkpoint, and the report tells the scores of that model.  A run that
# kept the best goes on to, unless it is told otherwise.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { # MODEL [--keep WHICH]
  master --mode averaging --local 2 --threads 1 --frequency 2 --epochs 12 \
    --normalize none --eval-data test.dls "${@:2}" -o "$1" --json
}
run want.safetensors --keep best >report.json 2>said
dl-eval --model want.safetensors --json test.dls >eval.json
python3 - <<'END'
import json, re
report, evaluation = json.load(open("report.json")), json.load(open("eval.json"))
best = report["early_stopping"]["best_epoch"]
# 8 commits an epoch; the kills below are after it, without a checkpoint.
assert 8 * (best + 1) < 75, best
assert report["scores"] == report["history"][best], report["scores"]
text = json.dumps(evaluation)
value = report["scores"]["metrics"]["accuracy"]
assert re.search(r'"accuracy": %s[,}]' % value, text), (value, text)
END
run m.safetensors --keep best >/dev/null 2>&1 &
wait $!
rm -r m.safetensors*
for commit in 75 10; do
  (DL_FAILPOINTS=master.after_commit=kill@$commit run m.safetensors --keep best) \
    >/dev/null 2>&1
  echo $?
done
run m.safetensors --keep best >/dev/null 2>&1
cmp want.safetensors m.safetensors && echo same
run m.safetensors >/dev/null 2>&1
cmp want.safetensors m.safetensors && echo "still the best"
run m.safetensors --keep last >/dev/null 2>&1
cmp -s want.safetensors m.safetensors || echo "the last"
# The last epoch is the best, and the master dies before that is in any file.
last() { # MODEL
  master --mode averaging --local 2 --threads 1 --frequency 2 --epochs 3 \
    --normalize none --eval-data test.dls --keep best --metric log_loss --json \
    --checkpoint-batches 8 -o "$1"
}
last all.safetensors >/dev/null 2>&1
(DL_FAILPOINTS=master.before_last_save=kill last l.safetensors) >/dev/null 2>&1
echo $?
last l.safetensors >report.json 2>/dev/null
cmp all.safetensors l.safetensors && echo "the best is the last"
grep -o '"best_epoch": *[0-9]*' report.json | head -n 1
