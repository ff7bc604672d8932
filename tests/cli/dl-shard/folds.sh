# Folds have every example once and each its share of the classes; groups stay together, and
# order is kept; classes are balanced by repeating or leaving out, the same ones for a seed.
status() { "$@"; echo "status $?"; }
awk 'BEGIN { for (i = 0; i < 103; ++i) print i "," (i % 10 ? i % 3 ? "dog" : "cat" : "owl") "," int(i / 4) }' |
  dl-preprocess csv --label 2 --id 1 -q -o pets.dls
ids() { dl-shard --head 1000 --json "$@" | jq -r .id | sort -n; }
classes() { dl-shard --info --json "$1" | jq -c '[.classes[].examples]'; }
echo '== folds'
dl-shard --folds 5 -o x pets.dls
for i in 1 2 3 4 5; do classes x-fold$i-000.dls; done
ids pets.dls >all
for i in 1 2 3 4 5; do ids x-fold$i-000.dls; done | sort -n | cmp - all && echo 'every example once'
dl-shard -q --folds 5 --memory 1k -o small pets.dls
dl-shard -q --folds 5 --seed 1 -o other pets.dls
for i in small other; do
  ids x-fold1-000.dls >one
  ids $i-fold1-000.dls | cmp -s one - && echo "$i: the same" || echo "$i: others"
done
dl-shard -q --folds 11 -o many pets.dls && printf '%s\n' many-* | head -n 2
echo '== groups, order, numbers to predict'
dl-shard -q --folds 3 --group 1 -o group pets.dls
for i in 1 2 3; do ids group-fold$i-000.dls | awk '{ print int($1 / 4) }' | sort -u; done | sort | uniq -d
dl-shard --folds 3 --in-order -o order pets.dls
ids order-fold2-000.dls | sed -n '1p;$p'
make-dataset 100 4 1 regression | dl-shard -q --folds 4 -o numbers && ls numbers-*
echo '== balance'
for way in over under; do
  dl-shard -q --balance $way --shuffle -o $way pets.dls
  dl-shard -q --balance $way --shuffle --memory 1k -o small-$way pets.dls
  dl-shard --balance $way --shuffle --seed 1 -o other-$way pets.dls
  classes $way-000.dls
  ids $way-000.dls | uniq -c | awk '{ print $1 }' | sort -n | uniq -c
  ids $way-000.dls >one
  ids small-$way-000.dls | cmp - one && echo 'the same with little memory'
  ids other-$way-000.dls | cmp -s - one || echo 'others by another seed'
done
echo '== what is wrong'
status dl-shard --folds 1 -o y pets.dls
status dl-shard --folds 0 -o y pets.dls
status dl-shard --folds 3 --split a=0.5,b=0.5 -o y pets.dls
status dl-shard --folds 3 --stratify -o y pets.dls
status dl-shard --folds 3 --balance over -o y pets.dls
status dl-shard --folds 3 --group id --in-order -o y pets.dls
status dl-shard --folds 50 -n 9 -o y pets.dls
status dl-shard --balance both -o y pets.dls
status dl-shard --split a=0.5,b=0.5 --balance over -o y pets.dls
status dl-shard --folds 3 --in-order --seed 1 -o y pets.dls
make-dataset 100 4 1 regression >numbers.dls
status dl-shard --balance over -o y numbers.dls
status dl-shard --folds 101 -o y numbers.dls
ls y* 2>/dev/null || echo "nothing is written"
echo '== numbers to predict: parts of one size'
for folds in 3 7 100; do dl-shard --folds $folds -o n$folds numbers.dls | awk '{print $2}' | sort -n | uniq -c | awk '{print $1 " of " $2}' | paste -sd' '; done
