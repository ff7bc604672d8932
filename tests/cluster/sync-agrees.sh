#!/bin/bash
# Sync: the model has the same bytes with 1, 2 and 4 workers, and when a worker or
# the master fails, and every mini-batch counts once; a replica that differs is
# found.
limit=120
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
sed -i 's/"layers": \[/&\n    {"type": "batch_norm"},/' net.json
train() { # NAME WORKERS
  master "$1" --mode sync --workers 4 --epochs 3 --min-workers "$2"
}
workers() { # RUN NAME...
  local run=$1 name
  shift
  for name; do worker "$run$name" "$run"; done
}
end() { # RUN NAME...
  local run=$1 name
  shift
  finish "$run"
  for name; do finish "$run$name"; done
  check "$run.safetensors.run"
}
replayed() { # RUN: what its log makes is its model
  dl-master --replay "$1.safetensors.run" -o last.safetensors -q || fail "replay"
  cmp last.safetensors "$1.safetensors" && echo "$1: replay: same bytes"
}
same() { cmp four.safetensors "$1.safetensors" && echo "$1: same bytes"; }

train four 4
workers four a b c d
end four a b c d
event four.safetensors.run '"parties":4' || fail "the workers averaged nothing"
train one 1
workers one a
end one a
same one
train two 2
workers two a b
end two a b
same two

train lost 2
DL_FAILPOINTS=worker.after_batch=kill@7 worker losta lost
workers lost b c
end lost a b c
event lost.safetensors.run '"event":"revoke"' || fail "no lease was lost"
same lost

train flips 2
DL_FAILPOINTS=worker.flip=nan@3 worker flipsa flips
workers flips b
end flips a b
# One worker; it says so of each round until the state comes, of one or several.
field_of_events flips.safetensors.run \
  '{"event": "fault", "why": "its replica differs"}' worker | sort -u | wc -l
# The gradient that it gave before the master's word came may be in an average.
replayed flips

# Between two commits of a round, and between log and word.
for point in master.after_commit=kill@15 master.after_log=kill@8; do
  name=${point%%=*}
  name=${name#master.}
  DL_FAILPOINTS=$point train "$name" 2
  workers "$name" a b
  finish "$name"
  train "$name" 2
  end "$name" a b
  event "$name.safetensors.run" '"event":"resume"' || fail "it did not resume"
  same "$name"
done
replayed after_log
