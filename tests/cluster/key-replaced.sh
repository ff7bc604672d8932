#!/bin/bash
# Keys are replaced during a run: a worker's, which goes on with the new one and
# not with the old; then the master's, which binds its port again with it.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys --worker a --worker b >/dev/null || fail "dl-keygen"
cp -r keys/hand-out/a old
master m --epochs 100000 --min-workers 2 --keys keys
worker a m --keys keys/hand-out/a
worker b m --keys keys/hand-out/b
await "their work" event m.safetensors.run '"event":"commit".*"worker":2'
dl-keygen keys --worker a --force >/dev/null || fail "dl-keygen --force"
await "a to be lost" event m.safetensors.run '"event":"lost".*its key was removed'
await "a to come back" event m.safetensors.run '"event":"join","host":[^}]*"name":"a"[^}]*"worker":[3-9]}'
worker thief m --keys old
finish thief
said thief.err "does not know this worker's key" || fail "the old key is good"
cp m.json before.json
dl-keygen keys --force >server.made || fail "dl-keygen --force"
cat server.made
await "another master file" sh -c '! cmp -s m.json before.json'
at() { grep -o '"endpoint"[^,]*' "$1"; }
[ "$(at m.json)" = "$(at before.json)" ] || fail "another port"
grep -qF -e "$(cat keys/server.pub)" m.json || fail "not the new key"
last=$(grep -c '"event":"join"' m.safetensors.run/events.jsonl)
more() { [ "$(grep -c '"event":"join"' m.safetensors.run/events.jsonl)" -ge "$1" ]; }
await "all to join again" more $((last < 5 ? 5 : last))
newest=$(grep -o '"event":"join".*' m.safetensors.run/events.jsonl |
  grep -o '"worker":[0-9]*' | tail -1)
await "their work" event m.safetensors.run "\"event\":\"commit\".*$newest"
kill -TERM "${pid[m]}"
finish m
finish a
finish b
check m.safetensors.run >/dev/null
