#!/bin/bash
# Sync through a tree of workers, some of whom die while others get averages from
# them: the model has the same bytes as that of a calm star.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
how=(--mode sync --workers 20 --epochs 200)
master star "${how[@]}" --topology star
worker a star
finish star
finish a
deadly_tree tree worker.before_relay=kill@10 "${how[@]}"
event tree.safetensors.run '"event":"round".*"parties":' ||
  fail "the workers averaged nothing"
cmp star.safetensors tree.safetensors && echo "same bytes"
