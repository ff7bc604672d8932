#!/bin/bash
# The examples of dl-spark(7): the package and the tools are what spark-submit brings.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
export PYTHONPATH=$DL_TEST_ROOT/tests/engines/spark
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$DL_TEST_ROOT/scripts/share/spark/pyproject.toml")
cp -r "$DL_TEST_ROOT/scripts/share/spark" source
(cd source && python3 -m zipfile -c "../dl_spark-$version-py3-none-any.whl" dl_spark)
tree=dl-tools-$version-linux-$(uname -m)
mkdir -p "$tree/bin"
for tool in preprocess shard master worker eval infer keygen; do
  cp -L "$(command -v dl-$tool)" "$tree/bin/"
done
tar -czf "$tree.tar.gz" "$tree"
# Where the tools are not found unless Spark brings them.
mkdir -p opt nfs && mv "$tree" opt/dl-tools
cp "$DL_TEST_ROOT/tests/engines/spark/page.py" train.py
cp "$DL_TEST_ROOT/scripts/share/examples/digits.json" lenet.json
"$PYSPARK_PYTHON" -c 'import common; print(common.page_blocks()[1])' |
  sed "s/--master yarn/--master 'local-cluster[2,4,1024]'/; s/x86_64/$(uname -m)/" >submit
grep -q 'py-files' submit || fail "the second block is not spark-submit: $(cat submit)"
# spark-submit has what the program says to standard error on standard output.
PATH=$(dirname "$PYSPARK_PYTHON"):/usr/bin:/bin PYSPARK_DRIVER_PYTHON=$PYSPARK_PYTHON \
  bash submit >submit.out 2>submit.log ||
  fail "spark-submit: $(grep FAILED submit.out) $(grep -v '^	at' submit.log | tail -n 25)"
grep -v '^dl-' submit.out

# The plain try on one host, as from the sources.
mkdir -p sources/scripts && cp -r source sources/scripts/share/spark
cat >sources/train.py <<'END'
import os

import dl_spark
from common import EXAMPLES, digits, expect, session

spark = session(None)
rows = spark.sparkContext.parallelize([(bytes(p), y) for p, y in digits()], 2)
_, report = dl_spark.fit(rows, f"{EXAMPLES}/digits.json", directory=f"{os.getcwd()}/run")
expect("a try on one host", ".zip" in dl_spark.__file__ and
       spark.sparkContext.master == "local[2]" and report["examples"] == len(digits()))
spark.stop()
END
"$PYSPARK_PYTHON" -c 'import common; print(common.page_blocks()[2])' >try
(cd sources && PATH=$(dirname "$PYSPARK_PYTHON"):$PATH PYSPARK_DRIVER_PYTHON=$PYSPARK_PYTHON \
  bash ../try) >try.out 2>try.log ||
  fail "the try: $(grep FAILED try.out) $(grep -v '^	at' try.log | tail -n 25)"
grep -v '^dl-' try.out
