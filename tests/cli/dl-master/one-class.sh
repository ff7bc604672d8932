#!/bin/bash
# Most examples are of one class: a model that answers it always ends with 79 in
# every mode, and one that has learnt more does not.  A run of three steps is not
# judged; features that are large numbers are named; the loss may have a weight.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
rare() { # NAME COUNT SEED EVERY: "yes" each so many, by the first column
  awk -v n="$2" -v seed="$3" -v every="$4" 'BEGIN {
    srand(seed)
    for (i = 0; i < n; ++i) {
      yes = i % every == 0; x = 2 * rand() - 1 + 2 * yes; y = 2 * rand() - 1
      print x "," y "," x * y "," (yes ? "yes" : "no")
    } }' | dl-preprocess csv --label 4 --classes no,yes | dl-shard -q -o "$1"
}
rare rare-train 2000 1 20
rare rare-held 600 2 6
epochs=5 batch=16
run() { # DATA OPTION...
  local data=$1
  shift
  dl-master --net n.json --data "$data-train-*.dls" --epochs "$epochs" --batch "$batch" \
    --local 2 --fresh -o m.safetensors "$@" >out 2>log
  echo "$?$(grep -o 'nothing was learnt\|features are not.*: take[^,]*\|judge: after 3 steps' log | sed 's/^/: /')"
}
one=$(jq '.layers[1] = {type: "output", units: 1, activation: "sigmoid",
  loss: "binary_cross_entropy"}' net.json)
two=$(jq '.layers[1].units = 2' net.json)
# Units that are 0, and stay so, leave the bias of the output.
dead='.layers[0].activation = "relu" | .weight_init = "zero"'
for net in "$one" "$two"; do
  for mode in averaging sync 'sharing --staleness 0' auto; do
    for change in "$dead" .; do
      jq "$change" <<<"$net" >n.json
      # shellcheck disable=SC2086  # words
      echo "$mode: $(run rare --mode $mode), held out $(
        run rare --mode $mode --eval-data 'rare-held-*.dls')"
    done
  done
done
echo "-- weights"
for change in "$dead" .; do
  jq "$change | .layers[1].loss_weight = 20" <<<"$two" >n.json
  run rare --mode sync
done
echo "-- large numbers"
awk 'BEGIN { srand(3); for (i = 0; i < 1200; ++i) {
    c = i % 3; printf "%d,%d,%s\n", 30000 * (c + rand()), 100000 * rand(), substr("abc", c + 1, 1)
  } }' | dl-preprocess csv --label 3 --classes a,b,c | dl-shard -q -o big-train
jq '.input.shape = [2] | .layers[0].activation = "relu" |
  .updater = {type: "adam", learning_rate: 0.01}' net.json >n.json
run big --mode sync --normalize none
run big --mode sync
echo "-- three steps"
jq ".input.shape = [2] | $dead" net.json >n.json
epochs=1 batch=50 run big --mode sync --workers 8
