#!/bin/bash
# Both modes, with workers of its own: learns the task, says so once, and the
# same command again finds it done.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for mode in averaging sharing; do
  master --mode $mode --local 2 --threads 1 --epochs 25 --eval-data test.dls \
    --target accuracy=0.95 -o $mode.safetensors --json >report.json 2>log ||
    cat log
  python3 - <<'END'
import json
r = json.load(open("report.json"))
assert r["early_stopping"]["best"] >= 0.95, r["early_stopping"]
assert r["examples"] == 120 * r["epochs"]
print(r["reason"], r["workers"]["joined"], r["workers"]["lost"])
END
  master --mode $mode --local 2 --threads 1 --epochs 25 --eval-data test.dls \
    --target accuracy=0.95 -o $mode.safetensors
  echo $?
done
ls -d ./*.safetensors
