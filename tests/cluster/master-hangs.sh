#!/bin/bash
# A master whose connections stand but which does nothing any more is lost to its
# workers; when another takes its place they are there.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
export DL_MASTER_LOST_AFTER=200ms
train() { master m --mode sharing --epochs 3 --min-workers 2 --checkpoint-batches 8; }
DL_FAILPOINTS=master.after_commit=stop@20 train
worker a m
worker b m
for w in a b; do
  await "$w to notice" said $w.err 'heard nothing of the master .* for 2 s'
done
slay m
train
for w in m a b; do finish $w; done
check m.safetensors.run
