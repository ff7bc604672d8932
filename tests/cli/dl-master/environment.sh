#!/bin/bash
# Variables are defaults; the command line wins.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
settings() { python3 -c 'import json, sys; s = json.load(sys.stdin)["configuration"]["settings"]; print(s["epochs"], s["mode"])'; }
export DL_MASTER_EPOCHS=7 DL_MASTER_MODE=averaging
master --dry-run --json | settings
master --dry-run --json --epochs 2 | settings
