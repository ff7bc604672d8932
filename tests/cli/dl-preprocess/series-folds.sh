#!/bin/bash
# Folds of series: by time, without a row in common, and by key; and splits by key.
rows_of() { dl-shard --head 999 --json "$1" | jq -c '[.features, .labels] | flatten | map(floor)' | tr -d '[]' | tr , '\n' | sort -n | uniq; }
series() { dl-preprocess series --window 3 --horizon 2 --label v --time t "$@"; }
awk 'BEGIN { print "t,k,v"; for (i = 0; i < 30; ++i) for (k = 0; k < 4; ++k) print i "," k "," 100 * k + i }' >four.csv

echo '== by time'
series --key k --folds 3 four.csv -o time.dls
for fold in 1 2 3; do rows_of time-fold$fold.dls | awk '$1 < 100' | sed -n '1p;$p' | tr '\n' ' '; done
echo
for file in time-fold*.dls; do rows_of "$file"; done | sort | uniq -d | wc -l
dl-shard --info --json 'time-fold*.dls' | jq .examples
for fold in 1 3; do dl-shard --info --json time-fold$fold.dls | jq -c .recipe.series.naive; done

echo '== what rows before give lies in the fold as well'
series -q --key k --folds 2 --lags 2 --difference 1 four.csv -o history.dls
for fold in 1 2; do dl-shard --head 1 --json history-fold$fold.dls | jq -c .features; done

echo '== steps between rows are made of rows of the part alone'
awk 'BEGIN { print "t,v"; for (i = 0; i < 30; ++i) print i * 5 "," i }' >steps.csv
sed 's/^75,15/75,1000/' steps.csv >later.csv # the first row behind the border at 73
sed 's/^70,14/70,1000/' steps.csv >before.csv
steps() { # FILE OPTION...
  local file=$1
  shift
  dl-preprocess series --no-provenance -q --force --window 3 --label v --time t --every 1 --resample interpolate \
    "$@" "$file" -o steps.dls
}
for option in --split=train=0.5,test=0.5 --folds=2; do
  for file in steps later before; do
    steps $file.csv $option
    for part in steps-*.dls; do dl-shard --head 999 --json "$part" | cksum >"$part.$file"; done
    [ $file = steps ] ||
      for part in steps-*.dls; do cmp -s "$part.steps" "$part.$file" && echo "$option: $part of $file is the same"; done
  done
  rm steps-*.dls*
done
steps later.csv --folds 2
dl-shard --head 999 --json steps-fold1.dls | jq -c .labels | tail -1
dl-shard --head 1 --json steps-fold2.dls | jq -c '.features | flatten'

echo '== by key'
series --key k --folds 3 --split-by key four.csv -o key.dls
for fold in 1 2 3; do rows_of key-fold$fold.dls | awk '{ print int($1 / 100) }' | uniq | tr '\n' ' '; done
echo
series -q --key k --split train=0.75,test=0.25 --split-by key four.csv -o part.dls
for part in train test; do rows_of part-$part.dls | awk '{ print int($1 / 100) }' | uniq | tr '\n' ' '; done
echo

echo '== categories of the first part alone'
sed 's/^t,k,v/t,k,v,color/; 2,$s/^[^,]*,\([0-9]\),.*/&,c\1/' four.csv >color.csv
series --key k --split train=0.75,test=0.25 --split-by key color.csv -o color.dls 2>&1 | grep -i 'color\|unknown'
dl-shard --info --json color-test.dls | jq -c .columns

echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status series -q --key k --folds 1 four.csv -o x.dls
status series -q --key k --folds 3 four.csv
status series -q --key k --folds 3 --split a=0.5,b=0.5 four.csv -o x.dls
status series -q --folds 3 --split-by key four.csv -o x.dls
status series -q --key k --folds 5 --split-by key four.csv -o x.dls
status series -q --key k --folds 3 --split-by size four.csv -o x.dls
status series -q --key k --split-by key four.csv -o x.dls
status series -q --key k --folds 10 four.csv -o x.dls
status series -q --key k --split a=0.97,b=0.03 four.csv -o x.dls
status dl-preprocess table -q --folds 3 --label v four.csv -o x.dls
status dl-shard -q --folds 3 -o x part-train.dls
ls x* 2>&1
