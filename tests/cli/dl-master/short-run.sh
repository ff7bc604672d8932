#!/bin/bash
# A run of less than 512 examples: 79 where its losses tell that nothing was
# learnt, a line where they are no lower than chance and do not tell.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
points 1 120 | awk -F, -v OFS=, '{ $1 = 1; $2 = 2; $3 = 3 } 1' |
  dl-preprocess csv --label 4 --classes a,b,c -o constant.dls
run() { # RATE EPOCHS BATCH DATA
  jq ".updater.learning_rate = $1" net.json >n.json
  dl-master --net n.json --data "$4" --epochs "$2" --batch "$3" --mode sync \
    --local 1 --fresh -o m.safetensors 2>log
  echo "$? $(grep -o 'nothing was learnt\|too short to judge: after [0-9]* mini-batches of [0-9]* examples' log)"
}
run 0.000001 4 8 constant.dls
run 0.01 1 16 constant.dls
run 0.000001 1 16 'train-*.dls'
run 0.1 4 8 'train-*.dls'
