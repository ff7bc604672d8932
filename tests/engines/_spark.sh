# shellcheck shell=bash
# PySpark on this machine: three executors of one core, which are processes, with what
# dl-spark(7) says of them.  DL_SPARK_VENV is a virtual environment with pyspark, pyarrow,
# pandas and numpy; else .venv/spark-VERSION of the repository is made, once, of
# spark_version.
set -u
skip() { echo "$*" >&2; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

command -v java >/dev/null ||
  skip "no java: scripts/bootstrap --engines installs it"
java=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
[ "${java:-0}" -ge 17 ] || skip "java is $java, and Spark wants 17 or newer"
version=${spark_version:-4.0}
venv=${DL_SPARK_VENV:-$DL_TEST_ROOT/.venv/spark-$version}
if ! "$venv/bin/python" -c 'import pyspark, pyarrow, pandas, numpy' 2>/dev/null; then
  [ -z "${DL_SPARK_VENV:-}" ] || skip "DL_SPARK_VENV=$venv has no pyspark, pyarrow, pandas and numpy"
  { python3 -m venv "$venv" &&
    "$venv/bin/pip" install -q "pyspark==$version.*" pyarrow 'pandas<3' numpy; } >&2 ||
    skip "no pyspark: it comes from PyPI, which is not reached"
fi
export PYSPARK_PYTHON=$venv/bin/python
# Settings for this test alone: no other address, no metadata of other runs.
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$PWD/spark-local
export TMPDIR=$PWD/tmp
mkdir -p "$SPARK_LOCAL_DIRS" "$TMPDIR"
export PYTHONPATH=$DL_TEST_ROOT/scripts/share/spark:$DL_TEST_ROOT/tests/engines/spark

# spark SCRIPT [ARGUMENT...]: what Spark says goes to SCRIPT.log.
spark() {
  local script=$1
  shift
  "$PYSPARK_PYTHON" "$DL_TEST_ROOT/tests/engines/spark/$script.py" "$@" 2>"$script.log" ||
    fail "$script ended with $?: $(grep -v '^	at' "$script.log" | tail -n 25)"
}
