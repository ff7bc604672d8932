#!/bin/bash
# dl_spark: an executor is killed mid-fit: Spark starts the stage again, the run goes on.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
spark faults executor
