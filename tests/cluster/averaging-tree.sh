#!/bin/bash
# Averaging through a tree of workers, some of whom die while others get
# averages from them: the model has the same bytes as that of a calm star.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master star --mode averaging --workers 7 --epochs 12 --topology star
worker a star
finish star
finish a
deadly_tree tree 20 --mode averaging --epochs 12
cmp star.safetensors tree.safetensors && echo "same bytes"
