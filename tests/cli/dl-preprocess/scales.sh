#!/bin/bash
# Scales, bins and the number before: learnt by fit, merged from parts to the byte.
status() { "$@"; echo "status $?"; }
printf 'a,b\n1,5\n2,\n4,5\n,6\n8,100\n16,7\n' >t.csv
recipe() { echo '{"source": {"type": "csv"}, "tensors": {"features": ['"$1"']}}' >r.json; }
show() { dl-preprocess fit r.json t.csv -o f.json && jq -c '.tensors.features | del(.na, .from, .type)' f.json &&
  dl-preprocess -q --recipe f.json t.csv -f -o x.dls && dl-shard --head 9 --json x.dls | jq -c .features; }
for scale in standardize minmax robust quantile; do
  recipe '{"type": "number", "from": ["a"], "missing": "median", "scale": "'$scale'"}' && show
done
recipe '{"type": "number", "from": ["a", "b"], "missing": "median", "scale": "quantile", "quantiles": 4, "distribution": "normal"}' && show
echo '== bins'
recipe '{"type": "bins", "from": "a", "bins": 3, "missing": "own"}' && show && dl-shard --info --json x.dls | jq -c .columns
recipe '{"type": "bins", "from": "a", "bins": 4, "strategy": "uniform", "encode": "ordinal", "missing": "own"}' && show
echo '== the number before'
recipe '{"type": "number", "from": ["b", "a"], "missing": "previous", "indicator": true}'
dl-preprocess -q --recipe r.json t.csv -f -o x.dls && dl-shard --head 9 --json x.dls | jq -c .features
sed '2d;3d' t.csv >late.csv
for threads in 1 4; do dl-preprocess -q --recipe r.json --threads $threads --batch 2 t.csv -f -o x$threads.dls; done
dl-shard --head 9 --json x1.dls | md5sum | cut -c1-8; dl-shard --head 9 --json x4.dls | md5sum | cut -c1-8
printf 'a,b\n1,\n2,3\n' >gap.csv
status dl-preprocess -q --recipe r.json gap.csv -f -o no.dls
recipe '{"type": "number", "from": ["b"], "missing": "previous", "value": -1}'
dl-preprocess -q --recipe r.json gap.csv -f -o x.dls && dl-shard --head 2 --json x.dls | jq -c .features
echo '== parts'
recipe '{"type": "number", "from": ["a"], "missing": "mean", "scale": "standardize"},
  {"type": "number", "from": ["a", "b"], "missing": "value", "scale": "quantile", "quantiles": 3}, {"type": "bins", "from": "a", "missing": "own"}'
{ sed -n '1p;2,4p' t.csv; } >1.csv && { sed -n '1p;5,$p' t.csv; } >2.csv
dl-preprocess fit r.json 1.csv 2.csv -o all.json
dl-preprocess fit r.json 1.csv -o 1.json && dl-preprocess fit r.json 2.csv -o 2.json
dl-preprocess fit --merge 2.json 1.json -o merged.json && cmp all.json merged.json && echo same
echo '== what is wrong'
try() { recipe "$1" && status dl-preprocess -q --recipe r.json t.csv -f -o no.dls; }
try '{"type": "number", "from": ["a"], "missing": "value", "scale": "robust"}'
try '{"type": "number", "from": ["a"], "missing": "value", "scale": "robust", "centers": [1], "scales": [0]}'
try '{"type": "number", "from": ["a"], "scale": "robust", "quantiles": 3}'
try '{"type": "number", "from": ["a"], "scale": "robust", "distribution": "normal"}'
try '{"type": "number", "from": ["a"], "scale": "quantile", "points": [2, 1]}'
try '{"type": "number", "from": ["a"], "centers": [1]}'
try '{"type": "number", "from": ["a"], "missing": "mean", "scale": "robust", "fills": [1]}'
try '{"type": "bins", "from": "a"}'
try '{"type": "bins", "from": "a", "edges": [1]}'
try '{"type": "bins", "from": "a", "edges": [1, 2]}'
printf 'a\n3\n3\n' >one.csv && recipe '{"type": "bins", "from": "a"}' && status dl-preprocess fit r.json one.csv -o no.json
recipe '{"type": "number", "from": ["a"], "missing": "value", "scale": "robust"}' && printf 'a,b\n,1\n' >none.csv && status dl-preprocess fit r.json none.csv -o no.json
ls no.dls no.json 2>&1
