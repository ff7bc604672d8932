#!/bin/bash
# Sharing: the master dies between writing an update to its log and telling the
# workers. The identical command loses none, the workers go on with the replicas
# that they have, and the log rebuilds the model of any step.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
train() {
  master m --mode sharing --epochs 3 --min-workers 2 --update-log keep \
    --checkpoint-every 0s
}
DL_FAILPOINTS=master.after_log=kill@55 train
worker a m
worker b m
finish m
train
finish m
finish a
finish b
run=m.safetensors.run
check $run
event $run '"event":"resume".*"replayed":15,.*"version":55' ||
  fail "updates were lost"
[ "$(grep -c '"event":"catch_up"' $run/events.jsonl)" = 2 ] ||
  fail "a worker did not keep its replica"
dl-master --replay $run --list

# From the first checkpoint and the whole log: the same bytes as the model, and
# at the end of an epoch those of the checkpoint that was written there.
mkdir first
cp $run/run.json $run/checkpoint-000001.safetensors $run/updates-*.log first
dl-master --replay first -o last.safetensors -q || fail "replay"
cmp m.safetensors last.safetensors && echo "same bytes"
mkdir there
cp $run/run.json there
cp "$run/$(field_of_events $run '{"event": "checkpoint", "version": 80}' checkpoint)" there
dl-master --replay first --step 80 -o 80.safetensors -q || fail "replay 80"
dl-master --replay there -o there.safetensors -q || fail "replay there"
cmp 80.safetensors there.safetensors && echo "same bytes"
# An update of so few parameters may have nothing to send; ten have.
dl-master --replay first --step 70 -o 70.safetensors -q || fail "replay 70"
cmp -s 70.safetensors 80.safetensors && fail "two steps have the same model"
dl-master --replay there --step 60 -o none.safetensors 2>&1
echo "status $?"

# Damage in the middle is found and named; what is sound before it is used.
printf '\377' | dd of=first/updates-000000000040.log bs=1 seek=300 conv=notrunc \
  status=none
dl-master --replay first --step 70 -o none.safetensors 2>damaged.err
echo "status $?"
grep -o "updates-000000000040.log': offset [0-9]" damaged.err | sed 's/[0-9]$/N/'
dl-master --replay first --step 40 -o 40.safetensors 2>/dev/null
echo "status $?"
