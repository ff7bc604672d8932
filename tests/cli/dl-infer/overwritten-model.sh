#!/bin/bash
# A model that is overwritten or cut in place, while examples are awaited, stays
# the one that was read.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
train() { master --local 1 --threads 1 -q --epochs 2 "$@" >/dev/null; }
train -o a.safetensors
sed -i "s,\"seed\": 3,\"seed\": 9," net.json
train -o b.safetensors
[ "$(stat -c %s a.safetensors)" = "$(stat -c %s b.safetensors)" ] || echo "sizes differ"
cat test.dls test.dls | dl-infer --model a.safetensors - >calm
cmp -s calm <(cat test.dls test.dls | dl-infer --model b.safetensors -) && echo "models are equal"
mkfifo in
for how in overwritten cut; do
  cp a.safetensors m.safetensors
  dl-infer --model m.safetensors - <in >out &
  exec 3>in
  cat test.dls >&3
  until [ -s out ]; do
    kill -0 $! || exit 1
    sleep 0.02
  done
  if [ $how = cut ]; then : >m.safetensors; else cat b.safetensors >m.safetensors; fi
  cat test.dls >&3
  exec 3>&-
  wait $!
  echo "$how: status $?"
  cmp calm out
done
