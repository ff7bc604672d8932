#!/bin/bash
# Sharing with --staleness 0 in a tree, with batch normalization: averaged
# statistics go down the tree and Tasks do not, and still two runs of seven
# processes give equal models and scores.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
python3 - <<'PY'
import json
net = json.load(open("net.json"))
net["layers"].insert(1, {"type": "batch_norm"})
json.dump(net, open("net.json", "w"))
PY
for run in m n; do
  master $run --mode sharing --epochs 4 --min-workers 7 --staleness 0 \
    --topology tree --fan-out 2 --eval-data 'train-*.dls' \
    --evaluate classification
  for w in a b c d e f g; do worker $run$w $run; done
  finish $run
  check $run.safetensors.run
  field_of_events $run.safetensors.run '{"event": "evaluation"}' metrics \
    >$run.scores
done
cmp m.safetensors n.safetensors || fail "the models differ"
cmp m.scores n.scores || fail "the scores differ"
wc -l <m.scores
! event m.safetensors.run 'replica differs' || fail "a replica differs"
