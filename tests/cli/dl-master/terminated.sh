#!/bin/bash
# SIGTERM: state saved, 75; the same command goes on to the same bytes.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
run() {
  exec dl-master --net net.json --data 'train-*.dls' --batch 8 \
    --mode averaging --local 1 --threads 1 --epochs 200 -q -o "$@"
}
(run want.safetensors)
(run got.safetensors) 2>err &
pid=$!
until grep -qs '"event":"round"' got.safetensors.run/events.jsonl; do
  kill -0 $pid || break
done
kill -TERM $pid
wait $pid
echo $?
tail -n 1 err
ls got.safetensors* -d
(run got.safetensors)
cmp want.safetensors got.safetensors && echo same
