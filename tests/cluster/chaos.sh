#!/bin/bash
# Some disturbances of a run in each mode, with small and larger models.
limit=280
. "$DL_TEST_ROOT/tests/cluster/_chaos.sh"
epochs() {
  case $1 in
    small) echo 40 ;; small-averaging) echo 30 ;; small-sync) echo 20 ;;
    large-sync) echo 1 ;; *) echo 2 ;;
  esac
}
chaos "${SOAK_SEED:-1}" 5 0 2>chaos.err  # where bash tells of whom it killed
