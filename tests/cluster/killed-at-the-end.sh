#!/bin/bash
# Workers that are killed when the run is over, before they have answered that
# they know, are told of: one that the master started, and one of another host.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
DL_FAILPOINTS=worker.before_leave=kill master local --local 1 --epochs 1
finish local
check local.safetensors.run
said local.err "lost: it was killed by signal 9" || fail "it is not told of"
master m --epochs 1 --min-workers 2
DL_FAILPOINTS=worker.before_leave=kill worker a m
worker b m
finish m
finish a
finish b
check m.safetensors.run
said m.err "a (worker [0-9]*) lost: its connection ended" ||
  fail "it is not told of"
said m.err "2 joined, 1 lost" || fail "it is not counted"
