#!/bin/bash
# dl_spark: kinds of columns, and sentences about data and settings that do not fit.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
spark kinds
