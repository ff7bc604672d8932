#!/bin/bash
# Lines that are delayed, replayed, and go dead without a word, in one direction
# or both: every example counts once, in a star and in a tree, with and without
# keys, and the model of --mode averaging does not depend on it.
limit=180
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
averaging=(--mode averaging --workers 3)
tree=(--topology tree --fan-out 2)
through_proxy sharing 1 9 'delay duplicate reset' 3 --mode sharing
through_proxy star 2 9 'delay duplicate reset' 3 "${averaging[@]}"
through_proxy dead 3 3 'cut halve' 3 "${averaging[@]}"
dl-keygen keys --worker 1 --worker 2 --worker 3 --worker 4 --worker 5 \
  >/dev/null || fail "dl-keygen"
keys=keys
through_proxy sharing-tree 4 9 'delay duplicate reset cut' 5 --mode sharing \
  "${tree[@]}"
through_proxy tree 5 9 'delay duplicate reset halve' 5 "${averaging[@]}" \
  "${tree[@]}"
for other in dead tree; do
  cmp star.safetensors $other.safetensors || fail "the models differ"
done
