#!/bin/sh
# What version 1.0 wrote is read for ever.
dl-shard --head 3 --json "$DL_TEST_ROOT/tests/golden/dataset-1.0.dls"
