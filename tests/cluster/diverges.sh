#!/bin/bash
# A learning rate that is far too large after some epochs: training goes wrong,
# and --on-divergence says what becomes of the run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_diverging
# From 30 it may find its way back by itself.
sed -i 's/"400": 30}/"400": 100}/' net.json

train() { # NAME OPTION...
  local name=$1
  shift
  master "$name" --mode sharing --epochs 40 --min-workers 2 \
    --combine sum --threshold adaptive:1e-3 --checkpoint-batches 60 "$@"
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
# The command named for an earlier model works.
command=$(sed -n "s/.*'\(dl-master --replay [^']*\) -o MODEL'.*/\1/p" stopped.err)
$command -q -o sound.safetensors || fail "no earlier model"
dl-eval --model sound.safetensors --min accuracy=0.9 train-*.dls >/dev/null ||
  fail "it is no good"
# The same command finds it as it was.
train stopped --on-divergence stop

train ignored --on-divergence ignore
[ "$(grep -c 'training goes wrong' ignored.err)" -ge 1 ] || fail "not a word"
said ignored.err 'training ended badly: ' || fail "not a word at the end"
check ignored.safetensors.run

# Going back halves the steps, until they are small enough or it was six times.
sed -i 's/"400": 100}/"400": 30}/' net.json
train reduced --on-divergence reduce
said reduced.err 'it goes back to before that' || fail "it does not go back"
event reduced.safetensors.run '"event":"setback"' || fail "no event"
check reduced.safetensors.run
