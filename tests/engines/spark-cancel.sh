#!/bin/bash
# dl_spark: a job is cancelled: master and workers end, and resume goes on.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
spark faults cancel
