#!/bin/bash
# Labels are not looked at, whatever they are.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
pets 1 6 >pets.dls
dl-infer --model "$model" pets.dls >expected
pets 1 6 | dl-infer --model "$models/pets.safetensors" --format dls \
  --keep-features >scored.dls
dl-infer --model "$model" scored.dls | cmp expected
printf '%s\n' -0.3567,-1.6094,-2.3026,fox -1.204,-0.5108,-2.3026,hen |
  dl-preprocess csv --label 4 | dl-infer --model "$model" | cmp - <(head -n 2 expected)
printf '%s\n' -0.3567,-1.6094,-2.3026,7,8 -1.204,-0.5108,-2.3026,9,1 |
  dl-preprocess csv --label 4,5 --regression |
  dl-infer --model "$model" | cmp - <(head -n 2 expected)
dl-eval --model "$model" scored.dls >/dev/null && echo evaluated
