#!/bin/bash
# A key of one use comes over standard input and lies in no file; it belongs to
# the process that used it first, and is over when that leaves for good.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
dl-keygen keys >/dev/null || fail "dl-keygen"
dl-keygen keys --once a >a.keys || fail "dl-keygen --once"
! grep -rqF -e "$(tail -1 a.keys)" keys || fail "a secret key is in a file"
# worker_with NAME KEYS OPTION...
worker_with() {
  local name=$1 given=$2
  shift 2
  dl-worker --master-file m.json --name "$name" --keys - "$@" \
    <"$given" >"$name.out" 2>"$name.err" &
  pid[$name]=$!
}
master m --epochs 100000 --min-workers 2 --keys keys
worker_with a a.keys
dl-keygen keys --once b >b.keys || fail "dl-keygen --once"
worker_with b b.keys
await "their work" event m.safetensors.run '"event":"commit".*"worker":2'
worker_with thief a.keys
finish thief
said thief.err "for one process, and another one has it" || fail "not told"
kill -TERM "${pid[a]}"
finish a
await "its key to go" test ! -e keys/workers/a.once
[ -e keys/workers/b.once ] || fail "b's key is gone"
worker_with late a.keys
finish late
said late.err "for one process\|does not know this worker" || fail "not told"
await "more work" event m.safetensors.run '"event":"commit".*"worker":2'
# The other workers do not join again for that.
! event m.safetensors.run '"event":"join".*"worker":3}' || fail "a new join"
kill -TERM "${pid[m]}"
finish m
finish b
ls keys/workers
check m.safetensors.run >/dev/null
