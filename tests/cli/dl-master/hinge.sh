#!/bin/bash
# A single output with a hinge loss tells two classes by its sign: the master and
# dl-eval take 0 for the threshold without being told.  Poisson regression has
# the activation exp, and refuses negative targets.
table() { # FROM TO
  awk -v OFS=, -v from="$1" -v to="$2" 'BEGIN {
    print "a", "b", "side", "count"
    for (i = from; i <= to; ++i) {
      a = i * 37 % 100 / 50 - 1; b = i * 61 % 90 / 45 - 1
      print a, b, (a + b > 0.1 ? "right" : "left"), int(exp(1 + a - b))
    } }'
}
prepare() { dl-preprocess csv --header --no-provenance "$@"; }
table 1 400 | prepare --label side --drop count --classes left,right | dl-shard -q -o side >/dev/null
table 401 500 | prepare --label side --drop count --classes left,right >test.dls
net() { # UNITS LOSS
  echo '{"seed": 3, "input": {"shape": [2]},
    "updater": {"type": "sgd", "learning_rate": 0.1},
    "layers": [{"type": "output", "units": '"$1"', "loss": '"$2"'}]}' >net.json
}
master() { dl-master -q --net net.json --local 1 --batch 8 --epochs 8 "$@"; }
net 1 '"hinge"'
master --data side-000.dls --eval-data test.dls --metric exact_match \
  --json -o hinge.safetensors >report.json
python3 - <<'END2'
import json
r = json.load(open("report.json"))["early_stopping"]
assert r["best"] > 0.95, r
END2
dl-eval --model hinge.safetensors --min accuracy=0.95 test.dls |
  grep -o 'threshold.*'
dl-eval --model hinge.safetensors --threshold 0.25 test.dls |
  grep -o 'threshold.*'
net 2 '{"type": "focal", "gamma": 1}'
master --data side-000.dls --eval-data test.dls -o focal.safetensors
dl-eval -q --model focal.safetensors --min accuracy=0.95 test.dls |
  grep -o '^classification'
table 1 400 | prepare --label count --drop side --regression |
  dl-shard -q -o count >/dev/null
net 1 '"poisson"'
master --data count-000.dls -o count.safetensors
dl-eval -q --model count.safetensors --min r2=0.9 count-000.dls | grep -o '^regression'
table 1 400 | sed 's/,2$/,-2/' | prepare --label count --drop side --regression |
  dl-shard -q -o bad >/dev/null
master --data bad-000.dls -o bad.safetensors 2>messages
echo "bad $?"
grep -o 'example .* or more' messages | sort -u
