#!/bin/sh
# The first of ten thousand; tests/soak/import-mutants.sh has them all.
python3 "$DL_TEST_ROOT/tests/cli/dl-import/_mutants.py" "$DL_TEST_ROOT/tests/golden" 180 2>/dev/null
