# Cross-validation of an example: every fold is tested once, by a model of the others.
cp "$DL_TEST_ROOT"/scripts/share/examples/passengers.awk .
awk -v seed=1 -v rows=300 -f passengers.awk >passengers.csv
dl-preprocess table -q --label Survived --id PassengerId --network passengers.json passengers.csv | dl-shard -q --folds 3 -o cross
crossval=$DL_TEST_ROOT/scripts/share/examples/crossval
"$crossval" passengers.json cross --epochs 5 >all.tsv
awk -F '\t' 'NR == 1 || $1 == "examples" || ($1 == "accuracy" && $2 > 0.6 && $2 < 1 && $3 < 0.2) { print $1, $4 }' all.tsv
dl-eval --merge cross-fold?.json | grep -o '300 examples'
grep -c . cross-fold1.list
echo '== the mean is that of the folds'
jq -s '[.[].evaluations[0].metrics.accuracy] | add / length' cross-fold?.json >mean
awk -F '\t' '$1 == "accuracy" { print $2 }' all.tsv | cmp - mean && echo equal
echo '== in order of time'
cat cross-fold*.dls | dl-shard -q --folds 3 --in-order -o time
"$crossval" --earlier passengers.json time --epochs 5 | awk -F '\t' '$1 == "accuracy" { print $4 }'
ls time-fold*.json
echo '== a model that fails ends it'
"$crossval" passengers.json cross --epochs 0 >none 2>&1 && echo 'no error'
wc -c <none | grep -qx 0 || tail -n 1 none
