#!/bin/bash
# An output layer that has more units than there are classes, or tells two apart
# where there is one, or that cannot give negative values, is told of.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() { dl-master "$@" --dry-run >/dev/null; }
try --net net.json --data 'train-*.dls'
echo '-- four units on three classes' >&2
sed 's/"units": 3/"units": 4/' net.json >four.json
try --net four.json --data 'train-*.dls'
echo '-- one class' >&2
points 1 60 | cut -d, -f1-2 | sed 's/$/,a/' |
  dl-preprocess csv -q --label -1 --classes a -o one.dls
echo '{"input": {"shape": [2]}, "layers": [{"type": "output", "units": 1,
  "updater": {"type": "adam"}, "loss": "binary_cross_entropy"}]}' >one.json
try --net one.json --data one.dls
points 1 60 | cut -d, -f1-3 | dl-preprocess csv --regression --label 2 -o real.dls
for activation in relu sigmoid identity tanh; do
  echo "-- $activation on negative values" >&2
  cat >real.json <<END
{"input": {"shape": [2]}, "updater": {"type": "sgd", "learning_rate": 0.1},
 "layers": [{"type": "output", "units": 1, "activation": "$activation",
             "loss": "mean_squared_error"}]}
END
  try --net real.json --data real.dls --normalize-targets none
done
