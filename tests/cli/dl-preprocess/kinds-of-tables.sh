#!/bin/bash
# ARFF, columns of fixed width, decimal commas of some columns.
status() { "$@"; echo "status $?"; }
cat >iris.arff <<'END'
% A comment
@RELATION iris

@ATTRIBUTE 'sepal length' NUMERIC
@attribute width	REAL
@attribute "the day" DATE "yyyy-MM-dd"
@attribute note string
@attribute code {1,2,'a, b'}
@ATTRIBUTE class {yes,'no way'}
@DATA
END
for i in $(seq 30); do
  class=yes && [ $((i % 3)) = 0 ] && class="'no way'"
  printf '%s\n' "$i.5,?,2024-01-$((10 + i % 15)),'it\\'s $i',$((i % 2 + 1)),$class"
done >>iris.arff
echo "{0 3.5, 1 7, 2 2024-02-02, 3 x, 4 'a, b'}" >>iris.arff
dl-preprocess table --label class iris.arff -o iris.dls
dl-shard --info --json iris.dls | jq -c '[.columns, .classes[].name, .recipe.source]'
dl-shard --head 31 --json iris.dls | jq -c .features | tail -1
sed '11i 1,2,2024-01-01,x,9,yes\n1,2,2024-01-01,x,1,yes,{5}\n1,2\n1,2,2024-01-01,"x,1,yes\n{6 1}\n{0 1' iris.arff >bad.arff
status dl-preprocess table -q --label class bad.arff -o no.dls
status dl-preprocess table -q --label class --max-bad 6 bad.arff -o bad.dls
header() { printf '@relation x\n%b\n@data\n1\n' "$1" >h.arff && status dl-preprocess table -q --label none h.arff -o no.dls; }
header '@attribute a relational'
header '@attribute a real\n@attribute a real'
header '@attribute a {x'
header 'a real'
printf '@relation x\n@attribute a real\n' >h.arff && status dl-preprocess table -q --label none h.arff -o no.dls
status dl-preprocess table -q --label class --delimiter ';' iris.arff -o no.dls
echo '== fixed width'
printf 'name      age city\nAnn        30 Köln\nBob         4 Ulm\nÖzgür      99 Österreich\nEve        -\n' >f.txt
for i in $(seq 20); do printf 'P%-8s %3d %s\n' "$i" $((i % 7)) Ulm; done >>f.txt
dl-preprocess table --widths 10,4,12 --label age --regression --na - f.txt --max-bad 1 -o f.dls
dl-shard --head 4 --json f.dls | jq -c .labels
sed 1d f.txt >g.txt
dl-preprocess table -q --widths name:10,age:4,city:12 --label city g.txt --print-recipe | jq -c .source
status dl-preprocess table -q --widths name:10,age:4,city:5 --label city g.txt -o no.dls
for list in name:10,4 10,x 0 a:1,a:2; do status dl-preprocess table -q --widths $list --label city g.txt -o no.dls; done
status dl-preprocess csv --widths 3 --label 1 g.txt -o no.dls
echo '{"source": {"type": "fixed", "widths": [2, 3], "names": ["a"]}, "tensors": {"features": {"type": "number", "from": ["a"]}}}' >r.json
status dl-preprocess --recipe r.json g.txt -o no.dls
echo '== decimal commas'
printf 'x;p;t;y\n1,5;1.25;"1.234,5";a\n2,5;2.5;3;b\n3,5;9.75;4;a\n' >c.csv
dl-preprocess table --label y c.csv --print-recipe 2>log >c.json && head -2 log && jq -c .source c.json
dl-preprocess fit c.json c.csv -o c.fitted && dl-preprocess --recipe c.fitted c.csv -o c.dls
dl-shard --head 3 --json c.dls | jq -c .features
echo '4.5;1;1;a' >>c.csv
status dl-preprocess --recipe c.fitted c.csv -f -o no.dls
jq '.source.decimal = "."' c.json >d.json && status dl-preprocess --recipe d.json c.csv -o no.dls
status dl-preprocess table --widths n:5,y:65537 --label y c.csv -o no.dls
printf '@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n{0 1, 1 v}\n{0 1, 0 2}\n' >twice.arff
status dl-preprocess table --label y twice.arff -o no.dls
printf 'price;z;y\n1.234;1,5;u\n2.345;2,5;v\n' >typo.csv
echo '{"source": {"type": "csv", "delimiter": ";", "decimal": ",", "decimal_of": ["prices", "z"]}, "tensors": {
  "features": {"type": "number", "from": ["price", "z"]}, "labels": {"type": "category", "from": "y"}}}' >typo.json
status dl-preprocess --recipe typo.json typo.csv -o no.dls
ls no.dls 2>&1
