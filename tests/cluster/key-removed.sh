#!/bin/bash
# A key that is removed: its worker is out within seconds, and stays out; in a
# tree the others join again with a new key for it, in a star they go on as they
# are, and the run goes on.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for topology in star tree; do
  rm -rf keys m.*
  dl-keygen keys --worker a --worker b --worker c --worker d \
    >/dev/null || fail "dl-keygen"
  shape=(--topology "$topology")
  [ $topology = star ] || shape+=(--fan-out 2)
  master m --epochs 100000 --min-workers 4 "${shape[@]}" --keys keys
  for name in a b c d; do worker $name m --keys keys/hand-out/$name; done
  await "work" event m.safetensors.run '"event":"commit".*"worker":4'
  [ $topology = star ] ||
    await "a parent" event m.safetensors.run '"event":"feed".*"parent":[1-3]'
  event m.safetensors.run '"event":"join".*"key":"d".*"name":"d"' ||
    fail "the key is not named"
  rm keys/workers/d.pub
  finish d
  said d.err "does not know this worker's key" || fail "d is not told"
  event m.safetensors.run '"event":"lost".*its key was removed' ||
    fail "not lost"
  if [ $topology = tree ]; then
    await "the others to join again" \
      event m.safetensors.run '"event":"join".*"worker":7}'
    await "a parent" event m.safetensors.run '"event":"feed".*"parent":[567]'
    await "their work" event m.safetensors.run '"event":"commit".*"worker":7'
    # They left before: check looks at all of them.
    event m.safetensors.run '"event":"leave".*it joins again' || fail "no end"
  else
    before=$(wc -l <m.safetensors.run/events.jsonl)
    await "work to go on" awk -v n="$before" '/"event":"commit"/ && NR > n + 50 \
      {++have} END {exit have < 50}' m.safetensors.run/events.jsonl
    ! event m.safetensors.run '"event":"join".*"worker":5}' ||
      fail "others joined again"
  fi
  kill -TERM "${pid[m]}"
  finish m
  finish a
  finish b
  finish c
  check m.safetensors.run >/dev/null
  echo "$topology: held"
done
