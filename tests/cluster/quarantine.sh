#!/bin/bash
# --skip-bad-shards: a damaged record, or one that kills every worker, costs its
# shard and not the run, which is the same when it is stopped and goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
damage train-001.dls  # record 2
# attempt NAME MODE OPTION...: with two local workers.
attempt() {
  local name=$1 mode=$2
  shift 2
  bind='' master "$name" --local 2 --mode "$mode" --epochs "${epochs:-3}" "$@"
  finish "$name"
  if [ -e "$name.safetensors" ]; then
    # How far others were when the shard went bad is up to time in sharing.
    check "$name.safetensors.run" |
      if [ "$mode" = sharing ]; then sed 's/[0-9]* examples/N examples/'; else cat; fi
    grep -o 'left out: .*' "$name.err" | sed "s|'/[^']*/|'|g"
  fi
}
for mode in sharing averaging; do
  attempt damaged-$mode $mode --skip-bad-shards 1
  # Refused at first, then allowed.
  attempt again-$mode $mode
  attempt again-$mode $mode --skip-bad-shards 1
done
cmp damaged-averaging.safetensors again-averaging.safetensors && echo "same bytes"
epochs=4 attempt damaged-averaging averaging --skip-bad-shards 1
grep -o "train-001.dls' was bad in epoch 1 .*" damaged-averaging.err
attempt synchronous sharing --skip-bad-shards 1 --staleness 0
attempt overlap averaging --skip-bad-shards 1 --overlap
attempt tree averaging --skip-bad-shards 1 --topology tree

# Record 3 of train-003 kills whoever reads it, and train-001 is damaged.
export DL_FAILPOINTS='worker.record=kill#18'
for mode in sharing averaging; do
  attempt deadly-$mode $mode --skip-bad-shards 1
  grep -o "was lost with 3 workers" deadly-$mode.err | sort -u
  grep -o "records\? [0-9, ]* of '[^']*train-003.dls'" deadly-$mode.err |
    sed "s|'/[^']*/|'|g" | sort -u
  attempt deadly-$mode $mode --skip-bad-shards 2
done
attempt straight-averaging averaging --skip-bad-shards 2
cmp deadly-averaging.safetensors straight-averaging.safetensors &&
  echo "same bytes"
