#!/bin/bash
# A time that is over before anything was learnt ends the run without an epoch.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() {
  master -q --local 1 --threads 1 --mode averaging --json -o m.safetensors "$@" |
    jq -c '[.examples, .epochs, .reason]'
}
train --epochs 3 --max-time 1ms
train --epochs 1
train --epochs 2 --max-time 1ms
train --epochs 2
