#!/bin/bash
# No output replaces an input or a file of a run.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
quick=(-q --batch 8 --local 1 --threads 1)
dl-master "${quick[@]}" --net net.json --data 'train-*.dls' \
  --update-log keep -o m.safetensors || exit 1
cp m.safetensors init.safetensors
ln m.safetensors other-name.safetensors
ln -s m.safetensors.run link
files() { sha256sum ./*.dls ./*.json ./*.safetensors m.safetensors.run/*; }
# The lock says who had it last.
files | grep -v /lock >before
try() {
  dl-master "$@"
  echo "status $?"
  files | grep -v /lock | cmp - before || echo "something has changed"
}
all=("${quick[@]}" --net net.json --data 'train-*.dls' --eval-data test.dls)
echo '-- --master-file'
for file in train-002.dls test.dls net.json ./net.json; do
  try "${all[@]}" -o m.safetensors --master-file "$file"
done
try "${quick[@]}" --init init.safetensors --data 'train-*.dls' -o m.safetensors \
  --master-file init.safetensors
try "${all[@]}" -o m.safetensors --master-file m.safetensors.run/run.json
try "${all[@]}" -o m.safetensors --master-file ./m.safetensors
try "${all[@]}" --estimate --master-file net.json
echo '-- --output'
try "${all[@]}" -o test.dls
try "${quick[@]}" --init m.safetensors --data 'train-*.dls' -o m.safetensors
try "${quick[@]}" --init m.safetensors --data 'train-*.dls' -o other-name.safetensors
for file in run.json events.jsonl checkpoint-000001.safetensors \
  checkpoint-000099.safetensors lock; do
  try "${all[@]}" --run m.safetensors.run -o m.safetensors.run/$file
done
try "${all[@]}" --run m.safetensors.run -o link/run.json
echo '-- of a run that is still to come'
for file in run.json events.jsonl lock updates-000000000000.log; do
  try "${all[@]}" --run new.run -o new.run/$file
  try "${all[@]}" --run new.run -o other --master-file ./new.run/$file
done
try "${all[@]}" --run new.run -o new.run
echo '-- --replay'
for file in run.json checkpoint-000001.safetensors; do
  try --replay m.safetensors.run -o m.safetensors.run/$file
done
try --replay m.safetensors.run -o link/events.jsonl
try --replay m.safetensors.run --step -1 -o m.safetensors
