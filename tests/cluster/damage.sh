#!/bin/bash
# Bits of what passes are others: whoever finds a message damaged ends the
# connection, the worker joins again, and every example counts once.
limit=120  # where a length is damaged, silence ends the connection
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
through_proxy sharing 1 6 flip 3 --mode sharing
through_proxy averaging 2 6 flip 3 --mode averaging --workers 3
master calm --epochs 3 --min-workers 3 --mode averaging --workers 3
some_workers calm calm 3
for w in calm calm-1 calm-2 calm-3; do finish "$w"; done
cmp averaging.safetensors calm.safetensors || fail "the models differ"
dl-keygen keys --worker 1 --worker 2 --worker 3 >/dev/null || fail "keys"
keys=keys through_proxy locked 3 6 flip 3 --mode sharing
