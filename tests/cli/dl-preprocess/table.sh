#!/bin/bash
# A table of words, dates and gaps: the recipe that follows from its rows, and later rows by it.
awk -v seed=1 -v rows=1000 -f "$DL_TEST_ROOT/scripts/share/examples/passengers.awk" >p.csv
head -2 p.csv
dl-preprocess table --label Survived --id PassengerId p.csv -o train.dls
dl-shard --info --json train.dls | jq -c '.columns, .classes, .recipe.source'
echo '== the recipe, fitted and applied by hand, says the same'
dl-preprocess -q table --label Survived --id PassengerId p.csv --print-recipe >r.json
jq -c '.tensors.features[] | del(.na)' r.json
dl-preprocess fit r.json p.csv -o fitted.json
dl-preprocess -q --recipe fitted.json p.csv --no-provenance -o by-hand.dls
dl-preprocess -q table --label Survived --id PassengerId p.csv --no-provenance -o again.dls
cmp by-hand.dls again.dls && echo same
echo '== later rows'
cat >net.json <<'END'
{"input": {"shape": [18]}, "seed": 1, "updater": {"type": "adam", "learning_rate": 0.01}, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
END
dl-shard -q --split train=0.8,test=0.2 train.dls -o p
dl-master -q --net net.json --data 'p-train-*.dls' --normalize standardize --local 1 --epochs 30 -o m.safetensors
dl-eval -q --model m.safetensors --min accuracy=0.75 'p-test-*.dls' >scores || cat scores
cat >later.csv <<'END'
Crew,PassengerId,Age,Sex,Class,Fare,Booked,Port
no,2001,30,female,first,80,1912-02-01,Cherbourg
no,2002,,male,third,8,,Atlantis
no,2003,NA,other,steerage,,1912-02-03,
END
dl-infer --model m.safetensors --raw later.csv | jq -c '[.id, .class]'
echo '== labels'
sed 1q p.csv >few.csv && sed -n 2,200p p.csv >>few.csv
dl-preprocess table --label Fare --drop Name,Ship few.csv --json -o fare.dls 2>&1 | grep -E 'Fare|Name|examples'
dl-shard --info --json fare.dls | jq -c '.targets'
dl-preprocess -q table --label Survived --classes yes,no few.csv -o c.dls && dl-shard --info --json c.dls | jq -c '[.classes[].name]'
dl-preprocess -q table --label none few.csv -o none.dls && dl-shard --info --json none.dls | jq -c '.schema.labels'
echo '== other ways to write it'
tr ',' ';' <few.csv | tr -d '"' | sed 's/; \([A-Z]\)/ \1/' >semicolons.csv
dl-preprocess table --label Survived semicolons.csv -o s.dls 2>s.log
head -2 s.log
printf '%s\n' 'size;weight;y' '3,5;1.200,25;a' '4,25;999;b' '-1,5;2.000;a' >commas.csv
dl-preprocess table --label y commas.csv --print-recipe 2>commas.log >commas.json
head -2 commas.log
jq -c .source commas.json
dl-preprocess fit commas.json commas.csv -o commas.fitted && dl-preprocess --recipe commas.fitted commas.csv -o commas.dls
dl-shard --head 3 --json commas.dls | jq -c .features
cat >odd.csv <<'END'
when,seen,n,s,only,word,y
3.1.2024 10:30,03/25/2024,1,1.5,,x,a
14.2.2024 11:00,12/31/2023,2,unknown,set,"x",b
1.3.2024 23:59,01/02/2024,3,2.5,,,a
END
sed 1d odd.csv | sed 's/unknown/3.5/' >rest.csv
for _ in 1 2 3 4 5 6 7 8 9; do cat rest.csv; done >>odd.csv
dl-preprocess table --label y odd.csv -o odd.dls
dl-shard --info --json odd.dls | jq -c '.columns'
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess table p.csv -o x
status dl-preprocess table --label Survivd p.csv -o x
status dl-preprocess table --label Booked p.csv -o x
status dl-preprocess table --label Survived --regression p.csv -o x
status dl-preprocess table --label Survived --id Survived p.csv -o x
status dl-preprocess table --label Survived --drop Survived p.csv -o x
status dl-preprocess table -q --label Survived --no-provenance - <p.csv | head -c 4 | xxd -p
status dl-preprocess table --label Survived 'pipe:cat p.csv' -o x
status dl-preprocess table --label Survived --decimal x p.csv -o x
status dl-preprocess table --label Survived --header p.csv -o x
status dl-preprocess table --label Survived --drop Sex,Age,Class,Fare,Booked,Port,Crew p.csv -o x 2>&1 | tail -2
head -1 p.csv >head.csv
status dl-preprocess table --label Survived head.csv -o x
{ cat few.csv; echo 1,2; } >short.csv
status dl-preprocess -q table --label Survived short.csv -o x
status dl-preprocess table --label Survived short.csv --max-bad 1 -o short.dls 2>&1 | tail -3
sed '$s/[a-z]*$//' few.csv >no-label.csv
status dl-preprocess -q table --label Survived no-label.csv -o x
ls x 2>&1
# Points in numbers of a table with decimal commas; a column without a name.
printf ';x;y;l\n1;1,5;2,5;a\n2;1.234,5;3;b\n3;2,5;9.3;a\n4;1,5;1;b\n' >comma.csv
status dl-preprocess table --label l --decimal , comma.csv -o x
status dl-preprocess table --label l --decimal , --max-bad 1 comma.csv -o x
printf 'x,l\n1,1\n2,1.0\n3,2\n4,1\n' >twins.csv
status dl-preprocess table --label l twins.csv -o x2
seq 1700000000001 1700000000009 | sed '1i t' | paste -d, - few.csv | head -9 >late.csv
status dl-preprocess table --label Survived --print-recipe late.csv 2>&1 >/dev/null | grep ' t '
ls y 2>&1
