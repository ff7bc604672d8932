#!/bin/bash
# Recipes that cannot work are refused at once, by fit as well, with their file and the place in
# it; remedies are named that the tool at hand and the way in have; and an output is made again
# when its recipe has changed.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
printf 'x,y,kind\n1,2,a\n3,4,b\n' >1.csv
status() { "$@" 2>&1; echo "status $?"; }
recipe() { echo '{"source": {"type": "'"$1"'"}, "tensors": '"$2"'}' >r.json; }
mean='"features": {"type": "number", "from": ["x"], "missing": "mean"}'
fit() { recipe csv "{$1}" && status dl-preprocess fit r.json 1.csv; }
echo '== fit'
fit "$mean"', "labels": {"type": "category", "from": "kin"}'
fit "$mean"', "labels": {"type": "category", "from": "kind", "pattern": "("}'
fit "$mean"', "id": {"type": "id"}'
fit '"features": {"type": "number", "from": ["x"], "missing": "mean", "value": 3}'
fit "$mean"', "labels": {"type": "image", "from": "y", "size": [65535, 65535]}'
fit "$mean"', "label": {"type": "category", "from": "kind"}'
fit '"features": {"type": "number", "from": ["x"]}' | sed '/^{/,/^}/d'
dl-preprocess -q fit r.json 1.csv | jq -c '[.tensors, .fit.records]'
fit '"labels": {"type": "category", "from": "kind", "encode": "one_hot"}'
recipe files '{"features": {"type": "category", "from": "foldr", "encode": "one_hot"}}'
status dl-preprocess fit r.json 1.csv

echo '== remedies'
picture photos/1.ppm 4 4 1
picture photos/cat/a-long-name.ppm 4 4 1
image='"features": {"type": "image", "size": [4, 4]}'
by() { recipe files "{$image, $1}" && status dl-preprocess --recipe r.json photos -o x.dls; }
by '"labels": {"type": "category"}'
by '"id": {"type": "id", "bytes": 5}'
status dl-preprocess images --size 4x4 photos -o x.dls
status dl-preprocess images --size 4x4 --no-labels --id-bytes 5 photos -o x.dls
status dl-preprocess images --size 4x4 --shorter 8 --fit pad photos -o x.dls
printf 'path;kind\nphotos/1.ppm;a\n' >labels.csv
status dl-preprocess images --size 4x4 --labels labels.csv photos -o x.dls
seq -f '%g.5,1' 99 | sed '1i kind,x' >many.csv
recipe csv '{"features": {"type": "number", "from": ["x"]}, "labels": {"type": "category", "from": "kind"}}'
status dl-preprocess --recipe r.json many.csv -o x.dls
status dl-preprocess csv --header --label kind many.csv -o x.dls
tr , ';' <many.csv >semicolons.csv
status dl-preprocess --recipe r.json semicolons.csv -o x.dls
status dl-preprocess csv --header --label kind semicolons.csv -o x.dls
printf 'kind,x\na,1\na,2\n' >one.csv
status dl-preprocess --recipe r.json one.csv -o x.dls
sed -i '1i sep=;' semicolons.csv && head -n 9 semicolons.csv | status dl-preprocess -q --recipe r.json -o y.dls -f

echo '== a recipe that has changed'
touch -d '1 hour ago' 1.csv r.json labels.csv
again() { status dl-preprocess --recipe r.json 1.csv -o z.dls; dl-shard --info --json z.dls | jq -c .columns; }
again
again
recipe csv '{"features": {"type": "number", "from": ["x", "y"]}}' && touch -d '50 minutes ago' r.json
again
again
find photos -exec touch -d '1 hour ago' {} +
printf 'path,label\n1.ppm,a\na-long-name.ppm,b\n' >labels.csv && touch -d '1 hour ago' labels.csv
labels() { status dl-preprocess images --size 4x4 --labels labels.csv photos/1.ppm -o l.dls; dl-shard --info --json l.dls | jq -c '[.classes[].name]'; }
labels
labels
sed -i 's/,a/,c/' labels.csv && touch -d '50 minutes ago' labels.csv
labels
