#!/bin/bash
# Sharing through a tree of workers: some die while others get updates from
# them, one comes late; no example is lost and all replicas stay the same.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
deadly_tree m worker.before_relay=kill@100 --mode sharing --epochs 20
