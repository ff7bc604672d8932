#!/bin/bash
# A network to begin with, for the rows of a table: by its classes or numbers to predict.
awk -v seed=1 -v rows=300 -f "$DL_TEST_ROOT/scripts/share/examples/passengers.awk" >p.csv
dl-preprocess table --label Survived --id PassengerId --network net.json p.csv -o p.dls 2>said
tail -1 said
jq -c '.input, .updater, .layers[]' net.json
dl-shard -q --shuffle --split train=0.8,test=0.2 p.dls -o p
dl-master -q --net net.json --data p-train-000.dls --local 1 --epochs 30 -o m.safetensors
dl-eval -q --model m.safetensors --min accuracy=0.75 p-test-000.dls >scores || cat scores
echo '== numbers to predict, of any tool that makes rows'
dl-preprocess -q csv --header --regression --label y,z --network two.json -o two.dls <<'CSV'
x,y,z
1,2,3
2,3,4
CSV
jq -c '.input, .layers[-1]' two.json
seq 40000 | awk 'BEGIN { print "x,g,y" } { print $1 % 997 "," $1 % 30 "," $1 % 97 / 3 }' >many.csv
touch -d '2024-01-01' many.csv
dl-preprocess table --label y --network many.json many.csv -o many.dls 2>&1 | tail -1
echo '== made again with its stream, or where it is gone'
dl-preprocess table --label y --network many.json many.csv -o many.dls
rm many.json
dl-preprocess -q table --label y --network many.json many.csv -o many.dls && ls many.json
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess table --label none --network x.json many.csv -o x.dls
status dl-preprocess csv --header --sequence g --steps 2 --label y --network x.json many.csv -o x.dls
status dl-preprocess svmlight --features 2 --network x.json many.csv -o x.dls
status dl-preprocess table --label y --network many.csv many.csv -o x.dls
status dl-preprocess table --label y --network x.dls many.csv -o x.dls
status dl-preprocess table --label y --network - many.csv
status dl-preprocess table --label y --network x.json --print-recipe many.csv
status dl-preprocess fit --network x.json x y
for file in x*; do [ ! -e "$file" ] || echo "$file"; done
[ ! -e x.json ]
