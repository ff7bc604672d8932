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
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess analyze
status dl-preprocess analyze p.csv -o x
status dl-preprocess analyze p.csv --label Nobody
status dl-preprocess analyze - <p.csv
