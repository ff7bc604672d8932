#!/bin/bash
# Sequences by files, by a number of lines, and by lines between them; labels in files beside
# theirs, of each step or of the sequence, at the start or the end.
csv() { dl-preprocess -q csv --no-provenance "$@"; }
show() { dl-shard --head 99 --json "$1" | jq -c .; }
status() { "$@" >out && echo "no error: $*" || echo "status $?"; }
mkdir features labels steps
printf '%s\n' 1,10 2,20 3,30 >features/a.csv
printf '%s\n' 4,40 >features/b.csv
printf '%s\n' 5,50 6,60 >features/c.csv
echo up >labels/a.csv
echo down >labels/b.csv
echo up >labels/c.csv

echo '== a file is a sequence, its label that of the last row'
printf '%s\n' x,y 1,0 2,1 >one.csv
printf '%s\n' y,x 0,3 >two.csv
csv --header --label y --sequence file: --steps 3 one.csv two.csv -o own.dls
show own.dls
csv --header --label y --sequence file: --steps 3 --per-step --regression --store ragged one.csv two.csv -o ragged.dls
show ragged.dls

echo '== labels in another folder: one of each sequence'
csv --sequence file: --steps 3 --label-files labels features/*.csv -o folder.dls
show folder.dls
dl-shard --info --json folder.dls | jq -c '[.classes, .schema]'

echo '== predictions name the file'
echo '{"input": {"shape": [3, 2]}, "seed": 1, "layers": [{"type": "lstm", "units": 4},
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-master -q --net net.json --data folder.dls --local 1 --epochs 1 -o m.safetensors
dl-infer --model m.safetensors folder.dls | jq -c .id
csv --sequence file: --steps 3 --label none --id 1 features/*.csv | dl-shard --head 9 --json - | jq -c .id
csv --sequence file: --steps 9 --label none - <features/a.csv | dl-shard --head 9 --json - | jq -c .id
echo '== of each step'
printf '%s\n' 0 1 0 >steps/a.csv
echo 1 >steps/b.csv
printf '%s\n' 1 1 >steps/c.csv
csv --sequence file: --steps 4 --label-files steps --per-step features/*.csv -o equal.dls
show equal.dls
echo 1 >steps/a.csv
for way in start end; do
  csv --sequence file: --steps 4 --label-files steps --per-step --align $way features/*.csv -o $way.dls
  show $way.dls | head -1
done
csv --sequence file: --steps 4 --label-files steps --per-step --align end --store ragged --regression features/*.csv -o ragged.dls --force
show ragged.dls
printf '%s\n' 0.5 1.5 2.5 >steps/b.csv
for way in start end; do
  csv --sequence file: --steps 4 --label-files steps --per-step --align $way --regression features/b.csv -o $way.dls --force
  show $way.dls
done
csv --sequence file: --steps 2 --longer truncate --label-files steps --per-step --align end --regression features/b.csv -o cut.dls
show cut.dls
printf '%s\n' name,left,right a,1,2 b,3,4 >labels/d.csv
printf '%s\n' x,y 1,2 3,4 >features/d.csv
csv --header --sequence file: --steps 2 --label-files labels --label left,right --regression --per-step features/d.csv -o two.dls
show two.dls
dl-shard --info --json two.dls | jq -c '[.columns, .targets]'

echo '== so many lines'
printf '%s\n' 1,a 2,a 3,b 4,b 5,a >lines.csv
csv --label -1 --sequence lines:2 --steps 2 lines.csv lines.csv -o lines.dls --force 2>/dev/null
show lines.dls

echo '== lines between'
printf '%s\n' 1,a 2,a --- 3,b --- --- 4,a 5,b >between.csv
csv --label -1 --sequence line:--- --steps 2 between.csv -o between.dls
show between.dls
printf '%s\n' v,w 1,a 2,a '' 3,b '' '' 4,a '"5",b' '' >empty.csv
csv --header --label w --sequence line: --steps 2 empty.csv -o empty.dls
show empty.dls
awk 'BEGIN { for (i = 0; i < 200000; ++i) print i % 7 "," (i % 1000 ? "" : "") i % 3 (i % 1000 == 999 ? "\n" : "") }' >long.csv
csv --label -1 --sequence line: --steps 1000 --threads 3 long.csv -o long.dls
dl-shard --info --json long.dls | jq -c .examples
dl-shard --head 999 --json long.dls | jq -c '.features_mask | add' | sort | uniq -c | sed 's/^ *//'

echo '== what is wrong'
rm steps/b.csv
printf '%s\n' 0 1 2 3 4 5 >steps/c.csv
status csv --sequence file: --steps 4 --label-files steps --per-step features/*.csv
status csv --sequence file: --steps 4 --label-files steps --per-step --align end features/[ab].csv
status csv --sequence file: --steps 4 --label-files steps --per-step --align end features/[ac].csv
status dl-preprocess csv --sequence file: --steps 4 --label-files steps --per-step --align end --max-bad 2 features/[abc].csv -o ok.dls
show ok.dls
status csv --sequence file: --steps 9 --store ragged --label-files steps --per-step --align end features/[ac].csv
status csv --sequence file: --steps 2 --label-files labels features/a.csv
status csv --sequence file: --steps 4 --label-files labels --header features/d.csv
status csv --sequence lines:0 --label -1 --steps 4 lines.csv
status csv --sequence lines:2 --label-files labels --steps 4 lines.csv
status csv --sequence file: --label-files labels --steps 4 <lines.csv
status csv --sequence file: --label -1 --align end --steps 4 lines.csv
status csv --label -1 --label-files labels lines.csv
status csv --sequence file: --steps 4 --label-files labels --per-step --align top features/a.csv
status csv --sequence file: --steps 4 --label-files labels features/a.csv -o labels/a.csv
status dl-preprocess table --label y --label-files labels one.csv
echo '== a separator of several fields'
printf '1,2\n0,0\n3,4\n0,0\n5,6\n' | dl-preprocess csv -q --sequence line:0,0 --label 2 --classes 9 --steps 2 - | dl-shard --info --json | jq .examples
mkdir -p pipes && mkfifo pipes/a.csv
status csv --sequence file: --steps 4 --label-files pipes features/a.csv
