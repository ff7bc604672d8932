#!/bin/bash
# A replay of the last update, while the master puts a checkpoint in the place of what
# was listed: the last one that is there then.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { master --mode averaging --local 1 --threads 1 -q -o m.safetensors --epochs "$1" >/dev/null; }
train 1
cp -r m.safetensors.run early.run
train 4
mkdir live.run
cp early.run/* live.run
DL_FAILPOINTS=replay.after_list=stop dl-master --replay live.run -q -o r.safetensors &
until grep -q '^State:.T' /proc/$!/status 2>/dev/null; do
  kill -0 $! || exit 1
  sleep 0.02
done
rm live.run/*
cp m.safetensors.run/* live.run
kill -CONT $!
wait $!
echo "status $?"
dl-master --replay live.run -q -o s.safetensors
cmp r.safetensors s.safetensors
