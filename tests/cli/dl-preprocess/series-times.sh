#!/bin/bash
# Times of series: their forms, which forecasts keep; series that are too short; columns that
# are not static; what is learned before the border of a split alone.
series() { dl-preprocess -q series --no-provenance "$@"; }
status() { "$@" && echo "no error: $*" || echo "status $?"; }
cat >net.json <<'END'
{"input": {"shape": [2, 1]}, "seed": 1, "updater": {"type": "adam", "learning_rate": 0.05}, "layers": [
  {"type": "flatten"},
  {"type": "output", "units": 1, "activation": "identity", "loss": "mean_squared_error"}]}
END
train() { # DATA MODEL
  dl-shard -q --shuffle --force -n 1 -o shard "$1"
  dl-master -q --net net.json --data 'shard-*.dls' --batch 8 --local 1 --epochs 30 --fresh -o "$2"
}
times() { # FORMAT COUNT [OPTION...]: of rows from stdin, and of their forecast
  local count=$1
  shift
  { echo t,v; cat; } >in.csv
  status series --window 2 --label v --time t "$@" in.csv -o in.dls --force
  train in.dls m.safetensors
  dl-infer --model m.safetensors --forecast "$count" in.csv | jq -c .time | tr '\n' ' '
  dl-infer --model m.safetensors --score forecast --raw in.csv | jq -c .id | tail -1
}

echo '== forecasts in the form of the data, with their zone'
row() { awk -v "format=$1" 'BEGIN { for (i = 1; i <= 8; ++i) printf format ",%d\n", i, i }'; }
row '2024-03-%02d' | times 2
row '2024-03-03T%02d:00:00+02:00' | times 2
row '2024-03-03 %02d:30Z' | times 2
row '2024-03-03 1%d:15:30.250' | times 1
row '%d.3.2024' | times 3
row '3/%d/2024 11:00 PM' | times 1
row '3/4/2024 %02d:00 PM' | times 4 --time-format '%m/%d/%Y %I:%M %p'
row '2024-%02d' | times 5
row 'Q%d' | awk -F '[Q,]' '{ printf "%dQ%d,%d\n", 2020 + int($2 / 4), $2 % 4 + 1, $3 }' | times 3
row '"March %02d, 2024"' | times 1
row '%d.5' | times 2
row '2024-03-%02d 12:00' | times 2 --every 1d

echo '== more times, or words, than a column is counted for'
awk 'BEGIN { print "t,v,z"; for (i = 0; i <= 16500; ++i) print i ",w" i "," i % 9 }' >words.csv
many() { dl-preprocess series --no-provenance --window 3 --time t words.csv -o words.dls "$@" 2>&1 | grep -v network; }
many --label z
many --label v
many --label z --static v

echo '== series that are too short are passed over'
awk 'BEGIN { print "t,k,v"; for (i = 1; i < 9; ++i) { print i ",a," i; print i ",c," i
             if (i < 2) print i ",b,1" } }' >keys.csv
series --window 2 --label v --time t --key k keys.csv -o keys.dls
train keys.dls keys.safetensors
status dl-infer --model keys.safetensors --forecast 1 keys.csv | jq -c .key 2>/dev/null
grep -E '^t|b' keys.csv >short.csv
status dl-infer --model keys.safetensors --forecast 1 short.csv
awk 'BEGIN { for (i = 1; i < 9; ++i) print "1,d" i ",1" }' | cat keys.csv - >many.csv
dl-infer --model keys.safetensors --forecast 1 many.csv | wc -l

echo '== a time that is none, with its place'
sed '3s/^1/nan/' keys.csv >nan.csv
status series --window 2 --label v --time t --time-format number --key k nan.csv
dl-preprocess series --window 2 --label v --time t --time-format number --key k --max-bad 1 nan.csv -o nan.dls 2>&1 | grep nan
printf '%s\n' t,v 2024-01-01,1 2024-01-32,2 2024-01-03,3 >day.csv
status series --window 1 --label v --time t --time-format %Y-%m-%d day.csv
status series --window 1 --label v --time t day.csv
printf '%s\n' t,v 1,1 2,2 soon,3 >soon.csv
status series --window 1 --label v --time t soon.csv
printf '%s\n' t,v one,1 2,2 soon,3 >words.csv
status series --window 1 --label v --time t words.csv

echo '== static columns that are not'
cat >sizes.csv <<'END'
t,shop,sold,size,kind
1,a,1,10,big
1,b,5,20,small
2,a,2,10,big
2,b,6,21,small
3,a,3,10,big
3,b,7,20,big
END
fixed() { status series --window 1 --label sold --time t --key shop --static "$@"; }
fixed size sizes.csv -o sizes.dls
fixed kind sizes.csv -o sizes.dls
fixed size sizes.csv --max-bad 1 -o sizes.dls
sed 's/21/NA/' sizes.csv >gap.csv
fixed size gap.csv -o sizes.dls --force
dl-shard --head 9 --json sizes.dls | jq -c '."features/static"'

echo '== categories of the first part alone'
awk 'BEGIN { print "t,v,kind"; for (i = 0; i < 100; ++i) print i "," i "," (i < 80 ? "k" i % 2 : "late") }' >kinds.csv
kinds() { dl-shard --info --json "$1" | jq -c '.recipe.tensors.features | map(.classes // empty)'; }
series --window 2 --label v --time t kinds.csv -o whole.dls
series --window 2 --label v --time t --split train=0.8,test=0.2 kinds.csv -o parts.dls
series --window 2 --label v --split train=0.8,test=0.2 --drop t kinds.csv -o rows.dls
series --window 2 --label v --time t --every 10 --split train=0.7,test=0.3 kinds.csv -o steps.dls
for file in whole parts-train parts-test rows-test steps-train; do kinds $file.dls; done
dl-shard --head 99 --json parts-test.dls | jq -c .features[1] | tail -1
