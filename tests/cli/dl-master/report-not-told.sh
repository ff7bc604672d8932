#!/bin/bash
# A start that died between the end of the run and its report: the next one
# finds the run finished, and tells the history so, once.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { master --local 1 --threads 1 --epochs 2 -o m.safetensors -q; }
kinds() { sed -E 's/.*"event":"([^"]*)".*/\1/' m.safetensors.run/events.jsonl; }
train 2>/dev/null
kinds | tail -n 1
sed -i '$d' m.safetensors.run/events.jsonl
train
kinds | tail -n 2
train
kinds | grep -c report
