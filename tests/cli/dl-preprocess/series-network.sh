#!/bin/bash
# A network to begin with, for windows of series: better than the naive forecasts with its own defaults.
learn() { # NAME OPTION...
  said=$(dl-preprocess series --split train=0.8,test=0.2 --network "$1.json" -o "$1.dls" "${@:2}" 2>&1 | tail -1)
  dl-shard -q --shuffle "$1-train.dls" -o "$1-t"
  # shellcheck disable=SC2046
  dl-master -q --net "$1.json" --data "$1-t-*.dls" --local 1 -o "$1.safetensors" \
    $(grep -oE -- '--(epochs|batch) [0-9]+' <<<"$said")
  dl-eval --model "$1.safetensors" --json "$1-test.dls" >"$1-report.json"
}
better() { # NAME SHARE: the error is at most that share of the better baseline's
  jq --argjson share "$2" '.evaluations[-1].metrics | .mae < $share * ([.naive_mae, .seasonal_mae] | min)' "$1-report.json"
}
examples=$DL_TEST_ROOT/scripts/share/examples
learn sun --window 11 --horizon 11 --season 11 --label sunspots --time year "$examples/sunspots.csv"
echo "$said"
better sun 0.85
echo '== several series, known ahead, static'
awk -v days=40 -f "$examples/load.awk" | awk -F, 'NR == 1 { print $0 ",holiday,size" } NR > 1 { print $0 "," NR % 7 "," ($2 == "north" ? 5 : 9) }' >load.csv
learn load --window 24 --horizon 6 --season 24 --label load --time when --key station --known holiday --static size \
  --gaps interpolate load.csv
better load 0.9
jq -c '.inputs' load.json
echo '== differences of a trend, and folds'
awk 'BEGIN { print "v"; for (i = 0; i < 400; ++i) print i + 10 * sin(i / 3) + i * i / 300 }' >rise.csv
learn rise --window 20 --horizon 3 --season 19 --difference 1 --label v rise.csv
better rise 0.5
dl-preprocess series --window 20 --label v --folds 4 --network folds.json rise.csv -o folds.dls 2>&1 | tail -1
echo '== classes'
awk 'BEGIN { print "x,state"; for (i = 0; i < 600; ++i) print sin(i / 5) "," (cos(i / 5) > 0 ? "up" : "down") }' >state.csv
learn state --window 4 --label state --horizon 0 state.csv
jq '.evaluations[0].metrics.accuracy > 0.95' state-report.json
echo '== what is wrong'
dl-preprocess series --window 4 --label none --network x.json rise.csv -o x.dls
echo "status $?"
ls x.* 2>&1
