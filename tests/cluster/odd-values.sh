#!/bin/bash
# A value out of all proportion for which its shard vouches: the run ends with
# the record named, or goes on without the shard.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
rm train-*.dls
make-dataset 40 20 2 huge | cat all.dls - | dl-shard -n 5 -o train >shards.list ||
  fail "dl-shard"
scaling=(--normalize none)
# attempt NAME MODE OPTION...: with two local workers.
attempt() {
  local name=$1 mode=$2
  shift 2
  bind='' master "$name" --local 2 --mode "$mode" --epochs 3 \
    --on-divergence ignore "$@"
  finish "$name"
  grep -o "'[^']*', record.*" "$name.err" | sort -u | sed "s|'/[^']*/|'|g"
}
for mode in sharing averaging; do
  attempt "$mode" $mode
  attempt "$mode" $mode --skip-bad-shards 1
  check "$mode.safetensors.run" | sed 's/[0-9]* examples/N examples/'
done
