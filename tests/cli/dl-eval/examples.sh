#!/bin/bash
# The examples with the largest losses, and a sample of a regression: of parts, merged,
# they are those of the whole, and their losses add up to what the metrics say.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-eval --model "$models/pets.safetensors" --json --examples 3 pets.dls >whole.json
jq -c '.examples | .most, (.worst[] | [.number, .label, .predicted, .loss > 0, .probability <= 1])' whole.json
jq -c '.examples.worst | map(.loss) == (map(.loss) | sort | reverse)' whole.json
dl-eval --model "$models/pets.safetensors" --json --examples 1000 pets.dls |
  jq -c '(.examples.worst | map(.loss) | add / length) as $mean
         | .evaluations[0].metrics.log_loss - $mean | fabs < 1e-6'
pets 1 3 >a.dls
pets 4 6 >b.dls
for part in a b; do
  dl-eval --model "$models/pets.safetensors" --json --examples 3 $part.dls >$part.json
done
dl-eval --merge --json a.json b.json >ab.json
dl-eval --merge --json b.json a.json | cmp - ab.json && echo "any order"
jq -c '.examples.worst | map(.loss)' whole.json ab.json | uniq | wc -l
printf '%s\n' 1,10,2,10 2,20,2,20 3,30,4,30 | dl-preprocess csv --label 3,4 --regression |
  dl-eval --model "$models/values.safetensors" --json --examples 2 |
  jq -c '.examples | (.worst | length), (.sample | map(.label) | sort), .sample[0].input'
jq -c '.examples.worst[0].loss = "much"' whole.json >false.json
for args in "--examples 3" "--examples 1001 --json" "--examples -1 --json" "--examples 3 --json --merge whole.json" \
  "--json --merge false.json"; do
  case $args in *merge*) model= ;; *) model="--model $models/pets.safetensors" ;; esac
  eval "dl-eval $model $args" <pets.dls >/dev/null
  echo "status $?"
done
