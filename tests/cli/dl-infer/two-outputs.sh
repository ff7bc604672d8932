#!/bin/bash
# Lines have an object for each of two outputs; a stream has labels for each,
# which the model itself agrees with.
. "$DL_TEST_ROOT/tests/cli/_two_outputs.sh"
dl-master -q --net net.json --data pairs-000.dls --mode averaging --local 1 \
  --batch 10 --epochs 5 -o m.safetensors >/dev/null || exit
infer() { dl-infer -q --model m.safetensors "$@"; }
infer pairs-001.dls >lines.jsonl
wc -l <lines.jsonl
jq -c '{index, digit: .digit | map_values(type), same: .same | keys_unsorted}' \
  lines.jsonl | head -2
jq -r .same.class lines.jsonl | sort -u
infer --top 3 pairs-001.dls | jq -c '[.digit.top, .same.top] | map(length)' | uniq
infer --top 11 pairs-001.dls
echo $?

infer --format dls --keep-features --no-provenance -o said.dls pairs-001.dls
dl-shard --info said.dls | grep -E '^(features|labels|targets)'
dl-eval -q --model m.safetensors -e digit=classification -e same=regression \
  --min digit:accuracy=1 --max same:rmse=0 said.dls | grep '^[a-z]*: '

# An output whose name is that of another field.
sed -i 's/"digit"/"id"/g' net.json
dl-shard -q --zip features/left=left.dls features/right=right.dls \
  labels/id=left.dls labels/same=same.dls -o named
dl-master -q --net net.json --data named-000.dls --mode averaging --local 1 \
  -o n.safetensors >/dev/null
dl-infer --model n.safetensors named-000.dls
dl-infer --model n.safetensors --format dls named-000.dls | dl-shard --verify
