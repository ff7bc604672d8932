#!/bin/bash
# An address of the network, without keys: only if it is said aloud.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master -o m.safetensors
