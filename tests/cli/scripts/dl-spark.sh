# The parts of dl_spark that need no Spark: settings, rows as bytes, finding and running tools, the
# directory of fit() and its master.
for units in units units_arguments units_fit; do
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$DL_TEST_ROOT/scripts/share/spark \
    python3 "$DL_TEST_ROOT/tests/engines/spark/$units.py" 2>"$units.log" |
    sed 's/^Ran \([0-9]*\) tests in .*/Ran \1 tests/'
done
