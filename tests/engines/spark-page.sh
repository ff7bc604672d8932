#!/bin/bash
# The examples of dl-spark(7): the package and the tools are what spark-submit brings.
. "$DL_TEST_ROOT/tests/engines/_spark.sh"
export PYTHONPATH=$DL_TEST_ROOT/tests/engines/spark
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$DL_TEST_ROOT/scripts/spark/pyproject.toml")
cp -r "$DL_TEST_ROOT/scripts/spark" source
(cd source && python3 -m zipfile -c "../dl_spark-$version-py3-none-any.whl" dl_spark)
tree=dl-tools-$version-linux-$(uname -m)
mkdir -p "$tree/bin"
for tool in preprocess shard master worker eval infer keygen; do
  cp -L "$(command -v dl-$tool)" "$tree/bin/"
done
tar -czf "$tree.tar.gz" "$tree"
mkdir -p opt nfs && cp -r "$tree" opt/dl-tools
cp "$DL_TEST_ROOT/tests/engines/spark/page.py" train.py
cp "$DL_TEST_ROOT/scripts/examples/digits.json" lenet.json
"$PYSPARK_PYTHON" -c 'import common; print(common.page_blocks()[1])' |
  sed "s/--master yarn/--master 'local-cluster[2,4,1024]'/; s/x86_64/$(uname -m)/" >submit
grep -q 'py-files' submit || fail "the second block is not spark-submit: $(cat submit)"
PATH=$(dirname "$PYSPARK_PYTHON"):/usr/bin:/bin PYSPARK_DRIVER_PYTHON=$PYSPARK_PYTHON \
  bash submit 2>submit.log || fail "spark-submit: $(grep -v '^	at' submit.log | tail -n 25)"
