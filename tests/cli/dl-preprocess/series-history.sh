#!/bin/bash
# Lags and differences of series, whose forecasts and errors are of the numbers themselves.
series() { dl-preprocess -q series --no-provenance "$@"; }
head_of() { dl-shard --head "$1" --json "$2" | jq -c '[.features, .labels] | flatten(1)'; }
awk 'BEGIN { print "t,k,v"; for (i = 0; i < 20; ++i) print i ",a," i * i "\n" i ",b," 100 + 3 * i }' >two.csv

echo '== lags: more columns of the features, each key by itself'
series --window 2 --label v --time t --key k --lags 1,3 two.csv -o lags.dls
head_of 2 lags.dls
dl-shard --head 99 --json lags.dls | jq -c .features | sed -n '16p'
dl-shard --info --json lags.dls | jq -c '[.columns, .schema.series.shape, .recipe.series.lags]'
awk -F , '{ print $0 "," (NR == 1 ? "h" : NR % 3) }' two.csv >known.csv
series --window 2 --horizon 2 --label v --time t --key k --lags 2 --known h known.csv -o known.dls
dl-shard --head 1 --json known.dls | jq -c '[."features/past", ."features/known"]'

echo '== differences: from the row before, from three before'
series --window 2 --horizon 3 --label v --time t --key k --difference 1 two.csv -o one.dls
head_of 2 one.dls
series --window 2 --label v --time t --key k --difference 3 --lags 1 two.csv -o three.dls
head_of 2 three.dls

echo '== forecasts are of the numbers'
cat >net.json <<'END'
{"input": {"shape": [2, 1]}, "seed": 1, "updater": {"type": "adam", "learning_rate": 0.05}, "layers": [
  {"type": "flatten"},
  {"type": "output", "units": 3, "activation": "identity", "loss": "mean_squared_error"}]}
END
train() { # NET DATA MODEL
  dl-shard -q --shuffle --force -n 1 -o shard "$2"
  dl-master -q --net "$1" --data 'shard-*.dls' --batch 8 --local 1 --epochs 400 --fresh -o "$3"
}
train net.json one.dls one.safetensors
forecast() { dl-infer --forecast "$@" two.csv | jq -c '[.key, .time, .outputs.v + 0.5 | if type == "number" then floor else . end]'; }
forecast 5 --model one.safetensors
sed 's/2, 1/2, 2/; s/units": 3/units": 1/' net.json >lag.json
train lag.json three.dls three.safetensors
forecast 4 --model three.safetensors

echo '== errors are those of the numbers: the naive forecasts are the same, and smape is not known'
sed 's/2, 1/4, 1/' net.json >wide-net.json
for by in 1 2; do
  awk -F , -v by=$by 'NR == 1 || $1 >= by' two.csv >later.csv # as the first rows have no difference
  series --window 4 --horizon 3 --season 2 --label v --time t --key k later.csv -o plain.dls --force
  series --window 4 --horizon 3 --season 2 --label v --time t --key k --difference $by two.csv -o by.dls --force
  for name in plain by; do
    train wide-net.json $name.dls $name.safetensors
    dl-eval --model $name.safetensors $name.dls --evaluate forecast --json >$name.json
    jq -c '.evaluations[0] | [.settings.difference, (.metrics | .examples, .naive_mae, .seasonal_mae, .smape != null)]' $name.json
  done
  jq '.evaluations[0].metrics.mae < 0.5' by.json
done
dl-eval --model by.safetensors by.dls --evaluate forecast | sed -n '/model/,/seasonal/p' | cut -c 1-30
dl-eval --merge by.json plain.json | grep difference
echo '== R2 and baselines of differences are those of the numbers; a season may be longer than the window'
jq -c '.evaluations[0].metrics | [.naive_r2, .seasonal_r2 | . * 1000 | round]' plain.json by.json
dl-eval --model by.safetensors by.dls --json | jq -c '[.evaluations[].kind]'
dl-eval --model by.safetensors --raw two.csv --json | jq -c '.evaluations[0].metrics | [.examples, .naive_mae, .seasonal_mae]'
for window in 4 9; do
  series --window $window --horizon 3 --season 8 --label v --time t --key k --split train=0.7,test=0.3 two.csv \
    -o season.dls --force
  sed "s/2, 1/$window, 1/" net.json >season.json
  train season.json season-train.dls season.safetensors
  dl-eval --model season.safetensors season-test.dls --evaluate forecast --json |
    jq -c '.evaluations[0].metrics | [.examples, .naive_mae, .seasonal_mae, .seasonal_smape]'
done

echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status series --window 2 --label v --lags 1,x two.csv
status series --window 2 --label v --lags 1,0 two.csv
status series --window 2 --label v --lags 2,2 two.csv
status series --window 2 --label k --horizon 0 --lags 2 two.csv
status series --window 2 --label none --difference 1 two.csv
status series --window 2 --label v --gap 1 --difference 1 two.csv
status series --window 2 --label v --time t --key k --difference 30 two.csv
sed 6q two.csv >few.csv
status dl-infer --model one.safetensors --forecast 2 few.csv
