#!/bin/bash
# Keys are replaced during a run: a worker's, which goes on with the new one and
# not with the old; then the master's, which binds its port again with it; then
# both, and the worker has its new ones long before the master does.
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
cp -r keys next
dl-keygen next --worker a --force >/dev/null || fail "dl-keygen --force"
dl-keygen next --force >/dev/null || fail "dl-keygen --force"
install_keys() {
  for file; do cp "next/$file" new && mv new "keys/$file"; done
}
lines_of() { grep -c "$1" "$2.err"; }
more_lines() { [ "$(lines_of "$1" "$2")" -gt "$3" ]; }
waits=$(lines_of "waiting for tcp" a)
joins_a=$(lines_of "joined tcp" a) joins_b=$(lines_of "joined tcp" b)
install_keys hand-out/a/{server.pub,worker.key} workers/a.pub
await "a to wait for the master" more_lines "waiting for tcp" a "$waits"
worker early m --keys keys/hand-out/a
finish early
said early.err "server key does not match" || fail "early has the wrong reason"
install_keys server.pub hand-out/b/server.pub server.key
await "a to join again" more_lines "joined tcp" a "$joins_a"
await "b to join again" more_lines "joined tcp" b "$joins_b"
kill -TERM "${pid[m]}"
finish m
finish a
finish b
check m.safetensors.run >/dev/null
