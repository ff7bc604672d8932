#!/bin/bash
# A learning rate that is far too large after some epochs: training goes wrong,
# and --on-divergence says what becomes of the run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"

# 400 points, above a line or below it: 40 mini-batches an epoch.
awk -v OFS=, 'BEGIN {
  print "x", "y", "z", "label"
  for (i = 0; i < 400; ++i) {
    x = ((i * 7919) % 2003) / 1000 - 1
    y = ((i * 104729) % 1009) / 500 - 1
    print x, y, x * y, (x + y > 0.1)
  } }' >points.csv
dl-preprocess csv --header --label label --classes 0,1 --no-provenance points.csv |
  dl-shard -q --batch 20 -n 4 -o train || fail "dl-shard"
rm points.csv
cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": {"schedule": "map",
    "values": {"0": 0.2, "400": 100}}},
  "layers": [
    {"type": "dense", "units": 8, "activation": "relu"},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON

train() { # NAME OPTION...
  local name=$1
  shift
  master "$name" --mode sharing --epochs 40 --min-workers 2 \
    --combine sum --checkpoint-batches 60 "$@"
  worker "$name-a" "$name"
  worker "$name-b" "$name"
  finish "$name"
  finish "$name-a"
  finish "$name-b"
}

train stopped --on-divergence stop
said stopped.err 'training went wrong: the loss is .* since update [3-5]..,' ||
  fail "it does not say since when"
said stopped.err 'lower learning rate' || fail "it does not say what to do"
event stopped.safetensors.run '"event":"divergence"' || fail "no event"
[ ! -e stopped.safetensors ] || fail "a model was written"
# What it says of an earlier model is true.
command=$(sed -n "s/.*'\(dl-master --replay [^']*\) -o MODEL'.*/\1/p" stopped.err)
$command -q -o sound.safetensors || fail "no earlier model"
dl-eval --model sound.safetensors --min accuracy=0.9 train-*.dls >/dev/null ||
  fail "it is no good"
# The same command finds it as it was.
train stopped --on-divergence stop

# Going back halves the steps, until they are small enough or it was six times.
train reduced --on-divergence reduce
said reduced.err 'it goes back to before that' || fail "it does not go back"
event reduced.safetensors.run '"event":"setback"' || fail "no event"
check reduced.safetensors.run

train ignored --on-divergence ignore
[ "$(grep -c 'training goes wrong' ignored.err)" -ge 1 ] || fail "not a word"
said ignored.err 'training ended badly: ' || fail "not a word at the end"
check ignored.safetensors.run
