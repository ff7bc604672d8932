#!/bin/bash
# A model that is no better than a constant prediction ends with 79 in every
# mode, and the remedy that is named leads to one that is.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { # UPDATER RATE EPOCHS SHARDS
  jq ".updater = {\"type\": \"$1\", \"learning_rate\": $2}" net.json >n.json
  dl-master -q --net n.json --data "$4" --epochs "$3" --mode "$mode" \
    --batch 8 --local 2 --fresh -o m.safetensors 2>log
  echo "$?$(grep -o 'lower learning rate\|hardly moved: take more epochs\|labels belong\|same features' log | sed -n '1s/^/: /p')"
}
# Sharing depends on time: it may go back to smaller steps until it learns.
too_high() {
  case $(run adam 1000 20 'train-*.dls') in
    '79: lower learning rate') echo "is told" ;;
    0) dl-eval -q --model m.safetensors --min accuracy=0.6 'train-*.dls' >eval.txt && echo "is told" ;;
  esac
}
data() { # NAME: rows on standard input
  dl-preprocess csv --label 4 --classes a,b,c | dl-shard -o "$1" >shards.txt
}
points 1 120 | awk -F, -v OFS=, '{ $4 = substr("abc", (NR * 7919 % 101) % 3 + 1, 1) } 1' | data shuffled
points 1 120 | awk -F, -v OFS=, '{ $1 = 1; $2 = 2; $3 = 3 } 1' | data constant
for mode in sharing averaging sync; do
  echo "-- $mode"
  echo "rate too high $(too_high), then $(run adam 0.03 20 'train-*.dls')"
  echo "rate too low $(run sgd 0.000001 5 'train-*.dls'), then $(run sgd 0.1 5 'train-*.dls')"
  echo "too few epochs $(run sgd 0.0003 5 'train-*.dls'), then $(run sgd 0.0003 200 'train-*.dls')"
  echo "labels shuffled $(run sgd 0.1 5 'shuffled-*.dls')"
  echo "constant features $(run sgd 0.1 5 'constant-*.dls')"
done
