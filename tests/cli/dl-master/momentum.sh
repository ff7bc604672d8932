#!/bin/bash
# A reminder where momentum meets updates that arrive late, and only there.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
sed -i 's/"sgd", "learning_rate": 0.1/"adam", "learning_rate": 0.01/' net.json
train() {
  local name=$1
  shift
  master --threads 1 --epochs 1 -o "$name.safetensors" "$@" >report 2>log || cat log
  echo "$name: $(grep -c 'a momentum (beta1 of adam) of 0.9' log)"
}
train late --mode sharing --combine sum --local 2
train shared --mode sharing --local 2
train alone --mode sharing --local 1
train synchronous --mode sharing --staleness 0 --local 2
train averaged --mode averaging --local 2
