#!/bin/bash
# A fit learns classes of labels in the order in which they appear, knows the data that it learned
# from by their records, so that none counts twice, and is refused where it cannot be right.
printf 'x,kind\n1,dog\n2,cat\n,dog\n' >a.csv
printf 'x,kind\n4,emu\n5,cat\n' >b.csv
printf 'kind,x\ncow,6\n' >c.csv
cat >r.json <<'JSON'
{"source": {"type": "csv"}, "tensors": {
  "features": {"type": "number", "from": ["x"], "missing": "mean"},
  "labels": {"type": "category", "from": "kind"}}}
JSON
status() { "$@" 2>&1; echo "status $?"; }
fit() { dl-preprocess fit r.json "$@"; }
learned() { jq -c '[.tensors.features.fills, .tensors.labels.classes, .fit.records]' "$1"; }
echo '== classes'
fit a.csv b.csv c.csv -o all.json && learned all.json
fit a.csv -o a.json && fit b.csv -o b.json && fit c.csv -o c.json
dl-preprocess fit --merge a.json b.json c.json | cmp - all.json && echo 'the same bytes'
dl-preprocess fit --merge a.json b.json -o ab.json && dl-preprocess fit --merge ab.json c.json | cmp - all.json && echo 'and by steps'
dl-preprocess fit --merge c.json b.json a.json | learned /dev/stdin
dl-preprocess -q --recipe all.json b.csv --no-provenance -o b.dls && dl-shard --info --json b.dls | jq -c '[.classes[].name], .recipe.tensors.labels'
dl-preprocess csv --header --label kind --missing fill:0 --no-provenance -q a.csv b.csv c.csv -o csv.dls && dl-shard --info --json csv.dls | jq -c '[.classes[].name]'
jq '.tensors.labels.classes = ["cat", "dog"]' r.json >given.json
status dl-preprocess fit given.json a.csv b.csv -o given.fit
dl-preprocess fit given.json a.csv | jq -c .fit.learned

echo '== twice'
cp b.csv copy.csv && gzip -k copy.csv && printf 'kind,x\nemu,4\ncat,5\n' >turned.csv
printf 'x,kind\n' >none.csv
status fit a.csv a.csv
status fit a.csv ./a.csv
for file in copy.csv copy.csv.gz turned.csv; do status fit b.csv "$file"; done
status fit a.csv none.csv none.csv -o x.json
fit a.csv none.csv | cmp - a.json && echo 'as without the empty one'
status dl-preprocess fit --merge a.json a.json
cp a.json again.json && status dl-preprocess fit --merge a.json again.json
status dl-preprocess fit --merge ab.json all.json
fit <copy.csv -o copy.json && status dl-preprocess fit --merge b.json copy.json
ln -s a.csv link.csv
status dl-preprocess csv --header --label kind --missing skip a.csv link.csv -o x.dls
mkdir -p photos/cat && printf 'P5 1 1 255\n0' >photos/cat/1.pgm
status dl-preprocess images --size 1x1 photos photos/cat/ -o x.dls

echo '== a recipe with a fit that was edited'
for edit in '.fit.records = 9' '.tensors.id = {"type": "id", "from": "file:line"}' '.tensors.labels.classes = ["emu"]' '.tensors.features.fills = [4]' 'del(.fit.inputs)' \
  '.fit = 1' '.fit.learned[1][0].name = "a\u0000"'; do
  jq "$edit" b.json >edited.json && status dl-preprocess --recipe edited.json b.csv -o edited.dls
done
ls edited.dls 2>&1
echo '== damaged'
damaged() { jq "$1" b.json >bad.json && status dl-preprocess fit --merge a.json bad.json; }
damaged 'del(.fit)'
damaged '.fit = []'
damaged '.fit.version = 2'
damaged '.fit.records = 0'
damaged '.fit.records = 1'
damaged '.fit.records = "2"'
damaged '.fit.inputs = [7]'
damaged '.fit.learned[0][0].count = -2'
damaged '.fit.learned[0][0].count = 1'
damaged '.fit.learned[0][0].digits[0] = -1'
damaged '.fit.learned[0][0].digits = [null]'
damaged '.fit.learned[0] = []'
damaged '.fit.learned[1][0].count = 2'
damaged '.fit.learned[1][1].name = "emu"'
damaged '.fit.learned[1] = null'
damaged '.fit.learned |= .[:1]'
damaged '.tensors.features.fills = [5]'
damaged '.tensors.labels.classes = ["cat", "emu"]'
damaged '.tensors.features.from = ["y"]'
sed 's/4294967296\|"count": 2/NaN/' b.json >bad.json && status dl-preprocess fit --merge a.json bad.json
head -c 200 b.json >bad.json && status dl-preprocess fit --merge a.json bad.json
