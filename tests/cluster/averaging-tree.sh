#!/bin/bash
# Averaging through a tree of workers, some of whom die while others get averages
# from them, and one while it is to sum others' results: the model has the same
# bytes as that of a calm star.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
how=(--mode averaging --workers 20 --frequency 1 --epochs 8)
master star "${how[@]}" --topology star
worker a star
finish star
finish a
deadly_tree tree worker.before_reduced=kill@3 "${how[@]}"
event tree.safetensors.run '"event":"direct"' ||
  fail "the death of a reducer was not seen"
cmp star.safetensors tree.safetensors && echo "same bytes"
