#!/bin/bash
# dl_spark: the driver is killed, then dl-master: nothing is left running, resume goes on.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
spark faults driver
