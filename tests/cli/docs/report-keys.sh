#!/bin/bash
# The manual tells of every key of the report.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for mode in averaging sharing sync; do
  master -q --json --local 1 --mode "$mode" --epochs 1 -o "$mode.safetensors" | jq -r 'keys[]' >keys
  [ "$(wc -l <keys)" -ge 10 ] || echo "$mode: a report of $(wc -l <keys) keys"
  while read -r key; do
    grep -qE "^\|.*\b$key\b" "$DL_TEST_ROOT/man/dl-master.1.scd" || echo "no word of $key"
  done <keys
done
