#!/bin/bash
# Synchronous modes learn the same with real workers and on simulated hosts, bit by bit,
# however uneven these are.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data

same() { # NAME OPTION...
  local name=$1
  shift
  dl-master -q --net net.json --data 'train-*.dls' --eval-data 'train-*.dls' \
    --batch 8 --epochs 3 --local 3 --threads 1 --json \
    -o "$name.safetensors" "$@" >"$name.json" 2>"$name.err" ||
    fail "the run '$name'"
  simulate --net net.json --data 'train-*.dls' --eval-data 'train-*.dls' \
    --batch 8 --epochs 3 --hosts 3 --host-spread 0.5 --batch-spread 0.5 \
    "$@" >"$name.out" 2>>"$name.err" || fail "the simulation '$name'"
  python3 - "$name" <<'PY' || fail "'$name' learns something else"
import json, sys
name = sys.argv[1]
real = json.load(open(name + ".json"))
simulated = json.loads(open(name + ".out").read().splitlines()[-1])
assert len(real["history"]) == 3
assert real["history"] == simulated["history"], (real["history"], simulated["history"])
print(f"{name}: the same")
PY
}
same averaging --mode averaging --frequency 3
same momentum --mode averaging --frequency 2 --outer nesterov
same synchronous --mode sharing --staleness 0 --threshold quantile:0.05
