#!/bin/bash
# A model of two outputs: each is evaluated by its own labels, reports merge,
# bars and options find their output.
. "$DL_TEST_ROOT/tests/cli/_two_outputs.sh"
dl-master -q --net net.json --data pairs-000.dls --mode averaging --local 1 \
  --batch 10 --epochs 5 -o m.safetensors >/dev/null || exit
evaluate() { dl-eval -q --model m.safetensors "$@"; }
headings() { grep '^[a-z]*: ' | tr '\n' ';' && echo; }
evaluate pairs-001.dls pairs-002.dls | headings
evaluate -e roc -e same=classification --threshold 0.3 pairs-001.dls | headings
evaluate --top 3 --json pairs-001.dls | grep -o '"top_[0-9]_accuracy' | uniq

for part in 1 2; do evaluate --json pairs-00$part.dls >$part.json; done
dl-eval --merge --json 1.json 2.json >merged.json
evaluate --local 2 --json pairs-001.dls pairs-002.dls | cmp - merged.json &&
  grep -o '"output":"[a-z]*"' merged.json
evaluate --json -e same=binary -e digit=classification pairs-001.dls >other.json
dl-eval --merge 1.json other.json
echo $?

evaluate --min same:accuracy=0.8 --max same:log_loss=9 pairs-001.dls >/dev/null
echo $?
evaluate --min digit:accuracy=1.5 pairs-001.dls 2>&1 >/dev/null |
  sed 's/ [01]\.*[0-9]* is/ N is/'
evaluate --min accuracy=0.1 pairs-001.dls
echo $?
evaluate -e digt=roc pairs-001.dls
echo $?
dl-shard -q --zip features/left=left.dls features/right=right.dls \
  labels/digit=left.dls -o half
evaluate half*.dls
echo $?

# Classes of one output in another order are put right by name.
dl-preprocess csv --label -1 --classes same,other --no-provenance -q same.csv \
  -o same-turned.dls
dl-shard -q --no-provenance --zip features/left=left.dls \
  features/right=right.dls labels/digit=left.dls labels/same=same-turned.dls \
  -n 3 --batch 50 -o turned
dl-eval --model m.safetensors --json turned-001.dls | cmp - 1.json && echo same
