#!/bin/bash
# Runs of all modes, one after the other, while everything is disturbed: ten minutes
# of it, or $SOAK_SECONDS.
limit=$((${SOAK_SECONDS:-600} + 1200))
. "$DL_TEST_ROOT/tests/cluster/_chaos.sh"
epochs() {
  case $1 in
    small) echo 1000 ;; small-averaging) echo 600 ;; small-sync) echo 300 ;;
    large) echo 20 ;; large-averaging) echo 12 ;; *) echo 6 ;;
  esac
}
chaos "${SOAK_SEED:-1}" 60 "${SOAK_SECONDS:-600}" 2>chaos.err  # where bash tells of whom it killed
