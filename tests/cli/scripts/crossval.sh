# Cross-validation of an example: every fold is tested once, by a model of the others.
cp "$DL_TEST_ROOT"/scripts/share/examples/passengers.awk .
awk -v seed=1 -v rows=300 -f passengers.awk >passengers.csv
dl-preprocess table -q --label Survived --id PassengerId --network passengers.json passengers.csv | dl-shard -q --folds 3 -o cross
crossval=$DL_TEST_ROOT/scripts/share/examples/crossval
"$crossval" passengers.json cross --epochs 5 >all
awk 'NR == 1 || $1 == "examples" || ($1 == "accuracy" && $3 > 0.6 && $3 < 1 && $4 < 0.2) { print $1, $5 }' all
dl-eval --merge cross-fold?.json | grep -o '300 examples'
grep -c . cross-fold1.list
echo '== the mean is that of the folds'
jq -s '[.[].evaluations[0].metrics.accuracy] | add / length' cross-fold?.json >mean
dl-eval --spread --json cross-fold?.json | jq '.[] | select(.metric == "accuracy").mean' | cmp - mean && echo equal
echo '== in order of time'
cat cross-fold*.dls | dl-shard -q --folds 3 --in-order -o time
"$crossval" --earlier passengers.json time --epochs 5 | awk '$1 == "accuracy" { print $5 }'
ls time-fold*.json
echo '== of series'
awk 'BEGIN { print "t,v"; for (i = 0; i < 90; ++i) print i "," i % 5 + i / 90 }' >five.csv
dl-preprocess series -q --window 5 --label v --time t --folds 3 five.csv -o five.dls
cat >net.json <<'END'
{"input": {"shape": [5, 1]}, "seed": 1, "updater": {"type": "adam", "learning_rate": 0.05}, "layers": [
  {"type": "flatten"},
  {"type": "output", "units": 1, "activation": "identity", "loss": "mean_squared_error"}]}
END
for earlier in '' --earlier; do
  "$crossval" $earlier net.json five --epochs 100 | awk '$1 == "mae" { print $2, $5, ($3 < 0.5) }'
  cat five-fold2.list
done
echo '== a model that fails ends it'
"$crossval" passengers.json cross --epochs 0 >none 2>&1 && echo 'no error'
wc -c <none | grep -qx 0 || tail -n 1 none
"$crossval" passengers.json nothing 2>&1 | tail -n 1
