# A split by what examples have in common, or in their order: no group is on both sides,
# no later example before an earlier one.
{
  echo patient,day,x,class
  for i in $(seq 0 199); do echo "p$((i % 20)),$i,$((i * 7 % 13)),$((i % 2))"; done
} >in.csv
dl-preprocess csv --header --label class --id patient in.csv -o in.dls
members() { # TENSOR... what the parts have, each once
  for part in train test; do
    dl-shard --head 200 --json "$1-$part-*.dls" | jq -c "$2" | sort -u | sed "s/^/$part /"
  done
}
dl-shard -q --split train=0.7,test=0.3 --group id -n 2 -o id in.dls
members id .id >id.groups
echo "by id: $(wc -l <id.groups) groups, $(cut -d ' ' -f 2 id.groups | sort | uniq -d | wc -l) on both sides"
dl-shard -q --split train=0.7,test=0.3 --group x --seed 3 -o x in.dls
members x '.features[1]' >x.groups
echo "by a column: $(wc -l <x.groups) groups, $(cut -d ' ' -f 2 x.groups | sort | uniq -d | wc -l) on both sides"
# More data move no group.
sed -n '2,101p' in.csv | sed '1i patient,day,x,class' >half.csv
dl-preprocess csv --header --label class --id patient half.csv |
  dl-shard -q --split train=0.7,test=0.3 --group id -o half
members half .id | cmp - id.groups && echo "no group moved"
echo "-- in order, from a pipe, with little memory"
dl-shard -q --split train=0.7,dev=0.1,test=0.2 --in-order -n 2 -o order --memory 1Ki <in.dls
for part in train dev test; do
  dl-shard --head 200 --json "order-$part-*.dls" | jq -s -c '[length, .[0].features[0], .[-1].features[0]]'
done
dl-shard --info 'order-test-*.dls' | grep '^  day'
dl-shard -q --split train=0.7,test=0.3 --in-order --shuffle -o mixed in.dls
dl-shard --head 200 --json 'mixed-train-*.dls' | jq -s -c 'map(.features[0]) | [length, min, max, . == sort]'
dl-shard -q --split train=0.7,dev=0.1,test=0.2 --in-order -n 2 -o order --force in.dls
dl-shard --verify 'order-*.dls' | cut -f 2,3 | paste -s
echo "-- refused"
try() { dl-shard -q -o y "$@" in.dls; echo "$?"; }
try --split a=0.5,b=0.5 --group patient
try --split a=0.5,b=0.5 --group id --in-order
try --split a=0.5,b=0.5 --in-order --seed 1
try --group id
try --split a=0.999,b=0.001 --in-order
