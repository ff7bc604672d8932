#!/bin/bash
# A run that is up to date removes what one that was killed left of its model.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() { master -q --local 1 --threads 1 -o m.safetensors; }
run || exit 1
# The name that a process of this host which is no more gave such a file.
(DL_FAILPOINTS=keygen.before_rename=kill@1 dl-keygen keys; :) >/dev/null 2>&1
left=$(find keys -name '*.tmp')
touch ".m.safetensors.${left#keys/.server.key.}" \
  ".n.safetensors.${left#keys/.server.key.}" m.safetensors.run/.run.json.tmp
find . -name '*.tmp' | wc -l
run
find . -name '.?.*.tmp' | sed 's/safetensors.*/safetensors/'
find m.safetensors.run -name '.*'
