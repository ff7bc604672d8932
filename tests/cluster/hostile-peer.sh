#!/bin/bash
# A peer that breaks every rule it can, while two others work: they get done,
# every example counts once, and the master's memory stays within its bound.
limit=120
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
for mode in sharing averaging; do
  rm -rf m.*
  master m --mode $mode --epochs 100000 --min-workers 2
  worker a m
  worker b m
  await "work" event m.safetensors.run '"event":"commit".*"worker":2'
  endpoint=$(sed 's/.*"endpoint":"\([^"]*\)".*/\1/' m.json)
  before=$(sed -n 's/VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/${pid[m]}/status")
  hostile "$endpoint" "${pid[m]}" >$mode.table || fail "hostile"
  peak=$(tail -n 1 $mode.table | cut -f 3)
  ((peak > 0 && peak < before / 1024 + 192)) ||
    fail "the master took $peak MiB, $((before / 1024)) before"
  ! grep -q "went through" $mode.table || fail "$(cat $mode.table)"
  kill -0 "${pid[m]}" "${pid[a]}" "${pid[b]}" || fail "somebody ended"
  done=$(grep -c '"event":"commit"' m.safetensors.run/events.jsonl)
  await "work to go on" awk -v n="$done" '/"event":"commit"/ {++have}
    END {exit have < n + 100}' m.safetensors.run/events.jsonl
  kill -TERM "${pid[m]}"
  finish m
  finish a
  finish b
  check m.safetensors.run >/dev/null
  grep -q "ended the connection of 127.0.0.1" m.err || fail "nothing is said"
  echo "$mode: held"
done
