#!/bin/bash
# Files of others with names that a run uses are neither replaced nor waited for.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() {
  DL_MASTER_EPOCHS=${epochs:-1} timeout 60 dl-master -q --net net.json --data 'train-*.dls' --batch 8 --local 1 \
    -o m.safetensors "$@" >/dev/null
  echo "status $?"
}
mkdir m.safetensors.run
echo notes >m.safetensors.run/lock
try
rm m.safetensors.run/lock
echo precious >target
ln -s ../target m.safetensors.run/lock
try
rm m.safetensors.run/lock
echo notes >m.safetensors.run/socket
try
cat target m.safetensors.run/socket
rm m.safetensors.run/socket
# An early end leaves these.
: >m.safetensors.run/lock
try
mv m.safetensors.run/events.jsonl .
epochs=2
mkfifo m.safetensors.run/events.jsonl
try
mv events.jsonl m.safetensors.run
# A link to itself among the checkpoints is none.
ln -s checkpoint-000009.safetensors m.safetensors.run/checkpoint-000009.safetensors
try
# A file that is none of a master's stays; one of an earlier run does not.
cp target file
try --master-file file
cat file
rm file
try --master-file file
try --master-file file --fresh
grep -c finished file
