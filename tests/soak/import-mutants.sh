#!/bin/sh
# Ten thousand files of other programs with something changed in them.
python3 "$DL_TEST_ROOT/tests/cli/dl-import/_mutants.py" "$DL_TEST_ROOT/tests/golden" 10000 2 2>/dev/null
