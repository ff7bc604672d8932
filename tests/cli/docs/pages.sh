# Every page with command blocks has a script here that runs them.
cd "$DL_TEST_ROOT" || exit
for page in README.md man/*.scd; do
  name=$(basename "${page%.*}")
  awk '/^```/ { inside = !inside; next } inside' "$page" |
    grep -qE '^(dl-[a-z]+|make|jq|for|ssh|srun) ' || continue
  [ -f "tests/cli/docs/$name.sh" ] || echo "$page: no tests/cli/docs/$name.sh"
done
