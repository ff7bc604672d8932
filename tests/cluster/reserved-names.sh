#!/bin/bash
# A worker that is called as one the master starts itself is refused, with a key or
# without, and the run goes on when that one dies and is started again.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys --worker eve >/dev/null || fail "dl-keygen"
DL_FAILPOINTS=worker.compute=sleep:20ms
export DL_FAILPOINTS
for keys in '' keys; do
  name=run${keys:+-with-keys}
  master "$name" --local 1 --epochs 3 ${keys:+--keys "$keys"}
  await "it to work" event "$name.safetensors.run" '"event":"commit"'
  run rogue dl-worker --master-file "$name.json" --name local-2 ${keys:+--keys "$keys/hand-out/eve"}
  finish rogue
  grep -o "the name .*" rogue.err
  kill -KILL "$(pgrep -P "${pid[$name]}" | head -n 1)"
  finish "$name"
  check "$name.safetensors.run"
  event "$name.safetensors.run" '"event":"join".*"name":"local-2"' ||
    fail "nobody took its place"
done
