#!/bin/sh
# Files of version 1.0 can be read for ever.
dl-shard --head 3 --json "$DL_TEST_ROOT/tests/golden/dataset-1.0.dls"
