#!/bin/bash
# dl_spark on Spark 3.5, in DL_SPARK_3_5_VENV or an environment of its own: fit, evaluate
# and predict of DataFrames and RDDs, and kinds of columns.
export DL_SPARK_VENV=${DL_SPARK_3_5_VENV:-}
spark_version=3.5
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
"$PYSPARK_PYTHON" -c 'import pyspark; print("Spark", pyspark.__version__[:3])'
spark trains
spark kinds
