#!/bin/bash
# A run goes on with data that were prepared again: what their metadata tell of
# how and when is not trained.  That other data are others is said.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
prepare() { # COUNT [OPTION...]
  local count=$1
  shift
  points 1 "$count" | dl-preprocess csv --label 4 --classes a,b,c "$@" |
    dl-shard --force -n 2 -o again >/dev/null
}
run() {
  dl-master -q --net net.json --data 'again-*.dls' --batch 8 --mode averaging \
    --local 1 --threads 1 -o m.safetensors "$@" 2>&1
  echo "status $?"
}
prepare 120
sha256sum again-0* >before
run --epochs 1
cp m.safetensors.run/run.json .
prepare 120 --no-provenance
sha256sum -c --status before || echo "other bytes"
run --epochs 1
cmp run.json m.safetensors.run/run.json && echo "the same run"
run --epochs 2
echo '-- more of them'
prepare 122
run --epochs 2
echo '-- other values'
points 1 120 | sed '7s/^[^,]*/9/' |
  dl-preprocess csv --label 4 --classes a,b,c | dl-shard --force -n 2 -o again >/dev/null
run --epochs 2
echo '-- other classes'
points 1 120 | tr a d | dl-preprocess csv --label 4 --classes d,b,c |
  dl-shard --force -n 2 -o again >/dev/null
run --epochs 2
