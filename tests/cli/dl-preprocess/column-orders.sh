#!/bin/bash
# Tables with a header may have their columns in any order: they are found by name in each
# file, and a file that lacks one is told of in one sentence.
printf 'x,y,kind\n1,2,a\n3,4,b\n' >1.csv
printf 'kind,y,x\n"b",40,30\na,20,10\n' >2.csv
printf 'y,x,kind,more\n400,300,b,7\n' >wide.csv
printf 'x,kind\n1,a\n' >narrow.csv
printf 'kind,y,x\nb,40,30\na,twenty,10\n' >bad.csv
printf 'kind,y,x\nb,40,30\na,20\n' >short.csv
printf 'kind,x,x\nb,40,30\n' >twice.csv
cat >r.json <<'JSON'
{"source": {"type": "csv"}, "tensors": {
  "features": {"type": "number", "from": ["x", "y"]},
  "labels": {"type": "category", "from": "kind", "classes": ["a", "b"]}}}
JSON
sed 's/"type": "csv"/"type": "csv", "header": false/; s/\["x", "y"\]/["2", "1"]/; s/"kind"/"3"/' r.json >no-header.json
show() { dl-shard --head 9 --json x.dls | jq -c '[.features, .labels]'; }
status() { "$@" -o x.dls && show || echo "status $?"; rm -f x.dls; }
csv() { status dl-preprocess csv --header --label kind "$@"; }
echo '== by options'
csv 1.csv 2.csv
csv 2.csv 1.csv --threads 2 --batch 1
csv 1.csv wide.csv
csv 1.csv narrow.csv
csv 1.csv twice.csv
csv 1.csv bad.csv
csv 1.csv short.csv
status dl-preprocess csv --header --regression --label y --drop kind 1.csv 2.csv
status dl-preprocess csv --header --label kind --sequence x --steps 2 1.csv 2.csv
echo '== by a recipe'
recipe() { status dl-preprocess --recipe r.json "$@"; }
recipe 1.csv 2.csv wide.csv
recipe 1.csv narrow.csv
recipe narrow.csv --max-bad 9
recipe 1.csv twice.csv
recipe 1.csv bad.csv
recipe 1.csv short.csv
sed 1d wide.csv >rows.csv && status dl-preprocess --recipe no-header.json rows.csv
cut -d, -f 1 1.csv | tail -n 1 >rows.csv && status dl-preprocess --recipe no-header.json rows.csv
echo '== by a model'
dl-preprocess --recipe r.json 1.csv 2.csv -o x.dls
echo '{"input": {"shape": [2]}, "seed": 1, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-master -q --net net.json --data x.dls --local 1 --epochs 1 --batch 4 --normalize none -o m.safetensors
dl-infer --model m.safetensors --raw 1.csv 2.csv >both
jq -c '[.id, .class]' both
cat <(dl-infer --model m.safetensors --raw 1.csv) <(dl-infer --model m.safetensors --raw 2.csv) |
  jq -c '[.id, .class]' | diff - <(jq -c '[.id, .class]' both) && echo 'as each alone'
dl-infer --model m.safetensors --raw 1.csv narrow.csv >none
echo "status $?"
dl-eval --model m.safetensors --raw 1.csv 2.csv --json | jq .evaluations[0].metrics.examples
dl-eval --model m.safetensors --raw --label-from other 1.csv
echo "status $?"
