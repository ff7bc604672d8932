#!/bin/bash
# Prints the plan, and leaves nothing behind.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --dry-run --mode averaging --workers 2
master --dry-run --json |
  python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["parameters"], d["batches_per_epoch"], d["configuration"]["settings"]["mode"])'
ls -a
