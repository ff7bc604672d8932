#!/bin/bash
# Two workers of one name: the second is told who has it, and ends with 76.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 3 --min-workers 2
worker a m
await "the first to join" event m.safetensors.run '"event":"join"'
run twin dl-worker --master-file m.json --name a
finish twin
grep -o "the name 'a' is in use" twin.err
worker b m
finish m
finish a
finish b
