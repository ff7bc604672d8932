#!/bin/bash
# A wrong network is refused before anything is opened for it.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
cat >net.json <<'END'
{"input": {"shape": [3]}, "layers": [
  {"type": "dens", "units": 8},
  {"type": "output", "units": -3, "activatoin": "softmax",
   "loss": "negative_log_likelihood"}]}
END
master -o m.safetensors
rc=$?
[ ! -e m.safetensors ] || echo "there is a model"
exit $rc
