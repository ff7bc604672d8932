# Every page with command blocks has a script here that runs them.
cd "$DL_TEST_ROOT" || exit
for page in README.md man/*.scd; do
  name=$(basename "${page%.*}")
  awk '/^```/ { inside = !inside; next } inside' "$page" |
    grep -qE '^(dl-[a-z]+|make|jq|for|ssh|srun|sbatch|mpirun) ' || continue
  [ -f "tests/cli/docs/$name.sh" ] || echo "$page: no tests/cli/docs/$name.sh"
done
for tool in tools/*.cpp; do
  grep -q "^help_of $(basename "$tool" .cpp)$" tests/cli/docs/help.sh ||
    echo "$tool: tests/cli/docs/help.sh does not run its examples"
done
# scdoc joins a heading to a table whose cell ends with a plus.
for page in man/*.scd; do
  diff <(sed -nE 's/^##? +//p' "$page" | wc -l) <(scdoc <"$page" | grep -cE '^\.S[HS] ') ||
    echo "$page: a heading is lost"
done
