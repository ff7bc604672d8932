#!/bin/bash
# Mean and deviation of metrics over reports.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
for range in '1 2' '3 4' '5 6'; do
  # shellcheck disable=SC2086
  pets $range | dl-eval --model "$models/pets.safetensors" --json >"part-${range% *}.json"
done
jq -c '.evaluations[0].metrics | [.accuracy, .log_loss]' part-*.json
dl-eval --spread 'part-*.json'
dl-eval --spread --json part-1.json part-3.json part-5.json | jq -c '.[] | select(.metric == "accuracy")'
dl-eval --spread part-1.json | sed -n 3p
pets 1 6 | dl-eval --model "$models/pets.safetensors" -e roc --json >roc.json
for args in "roc.json" "part-1.json" "--merge" "--max accuracy=1" "--raw"; do
  # shellcheck disable=SC2086
  dl-eval --spread $args part-1.json
done
