#!/bin/bash
# Held-out data and shards whose columns and classes have another order are put
# right by their names; what has other names is refused.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
named() { # COLUMNS CLASSES: awk's order of the four, and that of the classes
  awk -F, -v OFS=, "{ print $1 }" |
    dl-preprocess csv --header --label kind --classes "$2" --no-provenance
}
{ echo 'x,y,z,kind'; points 1 120; } >train.csv
{ echo 'x,y,z,kind'; points 121 160; } >test.csv
# shellcheck disable=SC2016
straight='$1, $2, $3, $4' turned='$3, $1, $4, $2'
rm train-*.dls
named "$straight" a,b,c <train.csv >all.dls
dl-shard -q -n 2 -o train all.dls >/dev/null
named "$straight" a,b,c <test.csv >straight.dls
named "$turned" c,a,b <test.csv >turned.dls
accuracy() { # HELD-OUT
  master -q --mode averaging --local 1 --epochs 20 --eval-data "$1" \
    --keep best -o "$1.safetensors" --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["early_stopping"]["best"])'
}
accuracy straight.dls >first && accuracy turned.dls >second
cmp first second && cat second
for data in straight turned; do
  dl-eval -q --model straight.dls.safetensors --json $data.dls >$data.json
done
cmp straight.json turned.json
dl-infer -q --model straight.dls.safetensors straight.dls >straight.jsonl
dl-infer -q --model straight.dls.safetensors turned.dls | cmp straight.jsonl
# A shard among others, and a model to start from.
named "$turned" c,a,b <train.csv | dl-shard -q -o train-other >/dev/null
for more in '--data train-other-000.dls' \
  '--data train-other-000.dls --init straight.dls.safetensors'; do
  # shellcheck disable=SC2086
  dl-master -q --net net.json --data train-000.dls $more --mode averaging \
    --local 1 --epochs 1 -o m.safetensors --fresh
  echo "status $?"
done
sed 's/z,kind/w,kind/' test.csv | named "$straight" a,b,c >named.dls
master -q --local 1 --eval-data named.dls -o n.safetensors
echo "status $?"
