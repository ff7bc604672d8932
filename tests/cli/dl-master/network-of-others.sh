#!/bin/sh
# The configurations of other programs are JSON as well, and dl-import's business.
dl-master --net "$DL_TEST_ROOT/tests/golden/keras/words.json" --dry-run 2>&1 | sed "s,$DL_TEST_ROOT/,,"
echo '{"confs": []}' >dl4j.json
dl-master --net dl4j.json --dry-run
echo "status $?"
# Nor is a model a network.
dl-master --net "$DL_TEST_ROOT/tests/cli/dl-eval/pets.safetensors" --dry-run 2>&1 | sed "s,$DL_TEST_ROOT/,,"
