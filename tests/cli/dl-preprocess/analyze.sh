# Statistics of the columns of a table, alerts, and the recipe that they lead to.
awk -v seed=1 -v rows=300 -f "$DL_TEST_ROOT/scripts/share/examples/passengers.awk" >p.csv
dl-preprocess analyze --label Survived --id PassengerId p.csv
echo '== JSON'
dl-preprocess analyze --label Survived --id PassengerId p.csv --json >a.json
jq -c '.columns[] | select(.name == "Fare") | del(.top)' a.json
jq -c '.columns[] | select(.name == "Class") | .top' a.json
jq .recipe a.json >a.recipe
dl-preprocess -q table --label Survived --id PassengerId p.csv --print-recipe >t.recipe
dl-preprocess fit a.recipe p.csv -o a.fitted
dl-preprocess fit t.recipe p.csv -o t.fitted
cmp a.fitted t.fitted && echo 'the recipe of table'
echo '== alerts'
{
  echo 'a;b;when;none;y'
  for i in $(seq 200); do echo "$((i % 7));$((i % 50 ? i % 9 : 999999));0$((i % 9 + 1))/02/2024;;common"; done
  echo 'x;1;03/02/2024;;rare'
  echo 'x;1;03/02/2024;;rare'
} >odd.csv
dl-preprocess analyze --label y odd.csv | sed -n '/^alerts/,/^$/p'
{
  echo 'id,town,tail,two_humps,few,mixed,out,boat,body,y'
  awk 'BEGIN { for (i = 0; i < 400; ++i) {
    u = (i * 7919 % 400 + 0.5) / 400; y = i % 10 < 3 ? "yes" : "no"
    printf "%d,town%d,%.4f,%.4f,%d,%s,%d,%s,%s,%s\n", i, i * 11 % 350, -20 * log(1 - u),
      (i % 3 ? 10 : 0) + u, i % 20 ? i % 2 : 9, i % 3 ? "w" i % 5 : i % 7, 1000 * (y == "yes") + i % 5,
      (y == "yes" ? i % 13 : ""), (y == "no" || i == 10 ? i % 17 : ""), y } }'
} >kinds.csv
dl-preprocess analyze --label y kinds.csv >kinds.txt
sed -n '/^correlations/,/^recipe/p' kinds.txt
grep -c town kinds.txt
echo '== correlations by their definitions'
dl-preprocess analyze --label y kinds.csv --json >kinds.json
dl-preprocess analyze --label tail kinds.csv --json >tail.json
dl-preprocess analyze --label few --classes 0,1,9 kinds.csv --json >few.json
python3 - <<'END'
import csv, json, math

rows = list(csv.DictReader(open("kinds.csv")))
column = lambda name: [row[name] for row in rows]
numbers = lambda name: [float(x) for x in column(name)]
mean = lambda xs: sum(xs) / len(xs)

def pearson(xs, ys):
    mx, my = mean(xs), mean(ys)
    cov = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    return cov / math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))

def eta(classes, xs):
    m = mean(xs)
    groups = [[x for c, x in zip(classes, xs) if c == g] for g in set(classes)]
    between = sum(len(g) * (mean(g) - m) ** 2 for g in groups)
    return math.sqrt(between / sum((x - m) ** 2 for x in xs))

def cramers_v(xs, ys):
    n, r, k = len(xs), len(set(xs)), len(set(ys))
    chi = sum((sum(x == a and y == b for x, y in zip(xs, ys)) - xs.count(a) * ys.count(b) / n) ** 2
              / (xs.count(a) * ys.count(b) / n) for a in set(xs) for b in set(ys))
    phi = max(0, chi / n - (k - 1) * (r - 1) / (n - 1))
    less = lambda c: c - (c - 1) ** 2 / (n - 1)
    return math.sqrt(phi / (min(less(r), less(k)) - 1))

def check(file, name, measure, want):
    got = next(c for c in json.load(open(file))["columns"] if c["name"] == name)["correlation"]
    equal = got["measure"] == measure and abs(got["value"] - want) < 1e-9
    print(measure, "equal" if equal else (got, want))

yes = [float(y == "yes") for y in column("y")]
check("kinds.json", "two_humps", "point_biserial", pearson(numbers("two_humps"), yes))
check("kinds.json", "mixed", "cramers_v", cramers_v(column("mixed"), column("y")))
check("tail.json", "two_humps", "pearson", pearson(numbers("two_humps"), numbers("tail")))
check("tail.json", "mixed", "correlation_ratio", eta(column("mixed"), numbers("tail")))
check("few.json", "tail", "correlation_ratio", eta(column("few"), numbers("tail")))
END
echo '== a page'
awk 'BEGIN { for (i = 1; i <= 1000; ++i) printf "%s<script>alert(%d)</script>", (i > 1 ? "," : ""), i; print ",y"
  for (r = 0; r < 120; ++r) { for (i = 1; i <= 1000; ++i) {
      x = (r * 7919 + i * 104729) % 1000003
      printf "%s%s", (i > 1 ? "," : ""), i % 3 ? x : "<b>word number " x % 30 "</b>" }
    print "," (r % 2 ? "yes" : "no") } }' >wide.csv
dl-preprocess analyze wide.csv --label y -o wide.html
[ "$(wc -c <wide.html)" -lt 2000000 ] && echo 'below 2 MB'
grep -c '<script>alert\|<b>word' wide.html
grep -o '<section id="[a-z]*"' wide.html
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess analyze
status dl-preprocess analyze p.csv -o x
status dl-preprocess analyze p.csv -o p.csv
status dl-preprocess analyze p.csv --label Nobody
status dl-preprocess analyze 'pipe:cat p.csv'
echo '== the first date and the last one'
printf '%s\n' day,at,n 03/02/2024,2024-02-03T23:30:00-02:00,1 NA,2024-01-01T00:00:00Z,2 29/02/2024,,3 28/12/2023,2024-01-02T10:00,4 >d.csv
dl-preprocess analyze d.csv --json | jq -c '.columns[] | [.name, .format, .first, .last]'
dl-preprocess analyze d.csv | sed -n '3,6p'
sed -n '1,3p' d.csv >d1.csv && sed '2,3d' d.csv >d2.csv
for i in 1 2; do dl-preprocess analyze d$i.csv -o d$i.json; done
dl-preprocess analyze d1.json d2.json --json | jq -c '.columns[] | [.name, .first, .last]'
dl-preprocess analyze d.csv -o d.html && grep -o '<span>2024[^/]*' d.html
jq 'del(.state.columns[].date_ranges)' d1.json >earlier.json
dl-preprocess analyze earlier.json --json | jq -c '.columns[0] | [.format, .first]'
jq '.state.columns[0].date_ranges[0] = [2, 1]' d1.json >odd-range.json
dl-preprocess analyze odd-range.json
echo "status $?"
