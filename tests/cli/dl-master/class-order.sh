#!/bin/bash
# Examples in the order of their classes are warned of, a run that they spoil ends
# with 79 and the remedy, and the remedy works. So does a run that learns examples
# by heart, as held-out data show.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
data() { dl-preprocess -q csv --label 4 --classes a,b,c --batch 64 | dl-shard -q -o "$1" "${@:2}"; }
jq '.layers = [{type: "dense", units: 8}, {type: "batch_norm"}] + .layers' net.json >n.json
run() { # PREFIX OPTION...
  dl-master -q --net n.json --data "$1-000.dls" --local 1 --fresh -o m.safetensors "${@:2}" 2>&1
  echo "status $?"
}
points 1 960 | sort -t, -k4 -s >rows.csv
points 2 240 | data held
data ordered <rows.csv
data mixed --shuffle <rows.csv
run ordered --eval-data held-000.dls --epochs 2
run mixed --eval-data held-000.dls --epochs 2
points 5 90 | sort -t, -k4 -s | data shared # two classes in a record, and one
run shared --epochs 1 | head -n 1
points 3 64 | sort -t, -k4 -s | data few # one record mixes them
run few --epochs 30
# Labels by chance, of a table that is too small for the network.
noise() { awk -v n="$2" -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < n; ++i)
  print rand() "," rand() "," rand() "," substr("abc", 1 + int(3 * rand()), 1) }'; }
noise 1 60 | data noise
noise 2 600 | data noise-held
jq '.layers[0].units = 200 | .layers[0].activation = "relu" |
  .updater = {type: "adam", learning_rate: 0.02}' net.json >n.json
run noise --eval-data noise-held-000.dls --epochs 200 | sed 's/[0-9]*\.[0-9]*/N/g'
