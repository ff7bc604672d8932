#!/bin/bash
# Averaging: the master dies between writing a round to its log and telling the
# workers, far from any checkpoint. The identical command goes on after that
# round, the model has the same bytes as an undisturbed one, and the log
# rebuilds the model of any round.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode averaging --workers 2 --epochs 3 --frequency 4 \
    --outer nesterov --outer-rate 0.7 --min-workers 2 --update-log keep \
    --checkpoint-every 0s
}

calm_run

DL_FAILPOINTS=master.after_log=kill@7 train
worker a m
worker b m
finish m
cp -r m.safetensors.run killed
train
finish m
finish a
finish b
run=m.safetensors.run
check $run
event $run '"committed":\[\[0,16\]\].*"event":"resume".*"replayed":2,.*"version":7' ||
  fail "a round was lost"
[ "$(field_of_events $run '{"event": "round"}' round |
  sort -n | uniq | wc -l)" = "$(grep -c '"event":"round"' $run/events.jsonl)" ] ||
  fail "a round was trained again"
dl-master --replay killed --list
dl-master --replay $run --list

# From the first checkpoint and the whole log: the same bytes as the model, and
# at the end of an epoch those of the checkpoint that was written there.
mkdir first there
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
cmp m.safetensors last.safetensors && echo "same bytes"
cp $run/run.json there
cp "$run/$(field_of_events $run '{"event": "checkpoint", "version": 10}' checkpoint)" there
dl-master --replay first --step 10 -o 10.safetensors -q || fail "replay 10"
dl-master --replay there -o there.safetensors -q || fail "replay there"
cmp 10.safetensors there.safetensors && echo "same bytes"
# A round that has no checkpoint, as both runs had it.
dl-master --replay killed -o 7.safetensors -q || fail "replay 7"
dl-master --replay ../calm/$run --step 7 -o calm7.safetensors -q ||
  fail "replay calm 7"
cmp 7.safetensors calm7.safetensors && echo "same bytes"
cmp -s 7.safetensors 10.safetensors && fail "two rounds have the same model"

# Damage in the middle is found and named; what is sound before it is used.
spoil() {
  printf '\377' | dd of="$1" bs=1 seek=300 conv=notrunc status=none
}
spoil first/updates-000000000005.log
dl-master --replay first --list 2>damaged.err
dl-master --replay first --step 7 -o none.safetensors 2>>damaged.err
echo "status $?"
grep -o 'updates-000000000005.log.: offset [0-9]*' damaged.err
grep '7; it' damaged.err
mkdir mended
cp ./*.dls net.json mended
cp -r killed mended/m.safetensors.run
cd mended || exit
spoil $run/updates-000000000005.log
train
worker a m
worker b m
finish m
finish a
finish b
check $run
grep 'offset' m.err | sed "s|'/[^']*/|'|"
event $run '"event":"resume".*"version":5' || fail "another start"
cmp ../m.safetensors m.safetensors && echo "same bytes"
cd ../..
cmp calm/m.safetensors rough/m.safetensors && echo "same bytes"
