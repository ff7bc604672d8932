#!/bin/bash
# Windows of series: which rows they have, what is read of them, and forecasts beyond their end.
info() { dl-shard --info --json "$@"; }
head_of() { dl-shard --head 99 --json "$@" | jq -c "[.features, .labels] | flatten(1)"; }
printf '%s\n' t,v 3,30 1,10 2,20 4,40 5,50 6,60 >plain.csv
series() { dl-preprocess -q series --no-provenance "$@"; }

echo '== rows in the order of time; window, horizon, gap, stride'
series --window 2 --label v --time t plain.csv | head_of
series --window 2 --horizon 2 --gap 1 --label v --time t plain.csv -o far.dls
head_of far.dls
info far.dls | jq -c '[.targets, .version, .schema.series, .schema.labels]'
series --window 2 --stride 3 --label v --time t plain.csv | head_of
series --window 3 --label none --time t plain.csv | dl-shard --head 1 --json -
series --window 2 --horizon 0 --label v --time t plain.csv | head_of | head -1

echo '== the rows are there once'
awk 'BEGIN { print "v"; for (i = 0; i < 20000; ++i) print i * 7919 % 10007 }' >long.csv
series --window 500 --label v long.csv -o long.dls
dl-shard -q --shuffle --batch 8000 -n 1 -o long long.dls
for file in long.dls long-000.dls; do
  info "$file" | jq -c '[.examples, .bytes < 100000]'
done
dl-shard --head 20000 --json long.dls | sort | cksum >a
dl-shard --head 20000 --json long-000.dls | sort | cksum | cmp a - && echo 'shuffled, the same windows'

echo '== several series, steps of one length, gaps'
cat >shops.csv <<'END'
when,shop,sold,mood
2024-01-31 10:00,a,1,good
2024-01-31 22:00,a,3,good
2024-01-30 12:00,b,7,bad
2024-02-01,a,4,bad
2024-02-03,a,8,good
2024-02-04,a,6,good
2024-02-05,a,9,good
2024-01-31,b,8,bad
2024-02-01,b,NA,good
2024-02-02,b,2,bad
END
for gaps in cut interpolate previous; do
  dl-preprocess series --window 2 --label sold --time when --key shop --drop mood \
    --every 1d --gaps $gaps shops.csv -o $gaps.dls 2>&1 | grep windows
  head_of $gaps.dls
done
for way in last sum interpolate; do
  series --window 1 --label sold --time when --key shop --drop mood --every 1d --resample $way \
    shops.csv | head_of | head -1
done
series --window 1 --label sold --time when --key shop --every 1d --calendar weekday,month shops.csv -o all.dls
info all.dls | jq -c '[.columns, .recipe.series.origin]'

echo '== steps that are missing'
awk 'BEGIN { print "t,v"; for (i = 0; i < 24; ++i) if (i < 7 || i > 9) printf "2024-01-01 %02d:00,%d\n", i, i }' >holes.csv
holes() { dl-preprocess series --window 2 --label v --time "$@" -o holes.dls --force 2>&1 | grep -E 'windows|missing' ; }
holes t holes.csv
holes t --split a=0.5,b=0.5 holes.csv
holes t --every 1h holes.csv
for gaps in cut interpolate previous fail; do
  holes t --gaps $gaps holes.csv
done
sed -n '1,5p' holes.csv >whole.csv
holes t --gaps fail whole.csv
printf '%s\n' t,v 1,1 2,2 3,3 7,4 8,5 >numbers.csv
holes t numbers.csv
printf '%s\n' t,v 1,1 2.5,2 3,3 7,4 9,5 >wild.csv
holes t --gaps fail wild.csv
printf '%s\n' t,v 2024-01-31,1 2024-02-29,2 2024-04-30,3 2024-05-31,4 2024-06-30,5 >months.csv
holes t months.csv

echo '== known ahead, static'
cat >known.csv <<'END'
when,shop,sold,holiday,size
2024-01-01,a,1,1,10
2024-01-02,a,2,0,10
2024-01-03,a,3,0,10
2024-01-04,a,4,1,10
2024-01-01,b,5,1,20
2024-01-02,b,6,0,20
2024-01-03,b,7,0,20
END
series --window 2 --label sold --time when --key shop --known holiday --static size known.csv -o known.dls
dl-shard --head 9 --json known.dls
info known.dls | jq -c '.schema | keys'

echo '== a class of each window'
awk 'BEGIN { print "x,state"; for (i = 0; i < 12; ++i) print i % 5 "," (i % 3 ? "up" : "down") }' >states.csv
series --window 3 --label state states.csv -o states.dls
dl-shard --head 3 --json states.dls
info states.dls | jq -c '.classes'

echo '== split in the order of time: labels of the first part lie before those of the next'
awk 'BEGIN { print "t,k,v"; for (i = 0; i < 20; ++i) print i ",a," i "\n" i ",b," 100 + i }' >two.csv
series --window 3 --horizon 2 --label v --time t --key k --split train=0.6,valid=0.2,test=0.2 two.csv -o two.dls
for part in train valid test; do
  dl-shard --head 99 --json two-$part.dls | jq -c .labels | tr '\n' ' '
  echo
done

echo '== a model of it'
cat >net.json <<'END'
{"input": {"shape": [3, 1]}, "seed": 1, "updater": {"type": "adam", "learning_rate": 0.05}, "layers": [
  {"type": "flatten"},
  {"type": "output", "units": 2, "activation": "identity", "loss": "mean_squared_error"}]}
END
dl-shard -q -n 2 -o shard two-train.dls
dl-master -q --net net.json --data 'shard-*.dls' --batch 4 --local 1 --epochs 300 -o m.safetensors
dl-eval --model m.safetensors two-test.dls --evaluate forecast --max mase=0.3 --json >one.json
dl-eval --model m.safetensors two-test.dls --evaluate forecast | sed -n '/naive/p'
dl-eval --model m.safetensors two-test.dls two-valid.dls --evaluate forecast --json >all.json
dl-eval --model m.safetensors two-valid.dls --evaluate forecast --json >two.json
dl-eval --merge one.json two.json --json | cmp - all.json && echo merged
near() { jq -c "$1 |= (. + 0.5 | floor)" | jq -c .; }
dl-infer --model m.safetensors --forecast 5 two.csv | near '.outputs.v'
dl-infer --model m.safetensors --raw two.csv | tail -1 | near '.outputs[]'
dl-infer --model m.safetensors --score forecast --threshold -0.01 two-test.dls | jq -s -c 'map(.anomaly) | unique'
sed 's/^15,a,15/15,a,40/' two.csv >odd.csv
dl-infer --model m.safetensors --score forecast --threshold -0.05 --raw odd.csv | jq -c 'select(.anomaly) | .id'
dl-infer --model m.safetensors --score forecast --quantile 1 two-test.dls | jq '. <= 0 and . > -0.01'

echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status series --label v plain.csv
status series --window 2 plain.csv
status series --window 2 --label w plain.csv
status series --window 9 --label v plain.csv
sed 's/^[24],.*0/&,/; s/^[1356],.*/&,1/; s/^t,v/&,w/' plain.csv >holes.csv
status series --window 2 --label v --time t holes.csv
sed 's/^[1-3],.*/&,/; s/^[45],.*/&,/; s/^6,.*/&,1/; s/^t,v/&,w/' plain.csv >late.csv
status series --window 2 --label v --time t --gaps previous late.csv
status series --window 2 --label v --every 1h plain.csv
status series --window 2 --label v --time t --every 1h plain.csv
status series --window 2 --label v --time t --every soon plain.csv
status series --window 2 --label sold --time when shops.csv
status series --window 2 --label sold --time when --every 1d --gaps fail --key shop shops.csv
status series --window 2 --label sold --time mood shops.csv
status series --window 2 --label mood --horizon 3 shops.csv
status series --window 2 --label v --id t plain.csv
status series --window 2 --label v --resample most --time t --every 1 plain.csv
status dl-preprocess table --window 2 --label v plain.csv
status dl-shard -q --split a=0.5,b=0.5 -o split far.dls
status dl-shard -q --zip features=far.dls labels=far.dls -o zip
status dl-infer --model m.safetensors --forecast 0 two.csv
sed 4q two.csv >few.csv
status dl-infer --model m.safetensors --forecast 2 few.csv
sed 's/^t,k/t,q/' two.csv >other.csv
status dl-infer --model m.safetensors --forecast 2 other.csv
status dl-infer --model m.safetensors --forecast 2 --score forecast two.csv
status dl-infer --model m.safetensors --quantile 0.5 two-test.dls
status dl-infer --model m.safetensors --score sense two-test.dls
echo '{"source": {"type": "csv"}, "series": {"window": 0, "wide": 1}, "tensors": {"features": {"type": "number", "from": ["v"]}}}' >r.json
status dl-preprocess --recipe r.json plain.csv
echo '{"source": {"type": "csv"}, "tensors": {"features": {"type": "number", "from": ["v"], "missing": "keep"}}}' >r.json
status dl-preprocess --recipe r.json plain.csv
