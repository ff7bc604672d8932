#!/bin/bash
# dl_spark in a cluster of three executors: what the plain tools make of the same data.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
spark trains
