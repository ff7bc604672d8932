#!/bin/bash
# Steps of a recipe, each by itself: the table that comes out; and what is refused.
cat >a.csv <<'EOF'
name,city,n,day,note
Ann,Berlin,3,2024-01-01,a b
Bob,Paris,,2024-01-03,"c ""d"" e"
Cy,Berlin,5,2024-01-02,
Dé,,1,2024-01-02,x-y
EOF
printf 'city,zip,land\nParis,75,fr\nBerlin,10,de\nBerlin,12,de\nRome,0,it\n' >zip.csv
# The ids of the rows show them: table STEPS FORMULA.
table() {
  jq -n --argjson steps "$1" --arg be "$2" '{source: {type: "csv"},
    steps: ($steps + [{let: "shown", be: $be}, {let: "one", be: "1"}]),
    tensors: {features: {type: "number", from: ["one"]}, id: {type: "id", from: "shown"}}}' >r.json
  shift 2
  dl-preprocess -q --force --recipe r.json "${@:-a.csv}" -o a.dls && dl-shard --head 9 --json a.dls | jq -r .id | paste -sd' '
}
n="coalesce(text(n), '-')"
show="concat(substring(name, 1, 1), ':', coalesce(city, '-'), ':', $n)"
table '[]' "$show"
table '[{"where": "n > 1"}]' "$show"
table '[{"where": "is_missing(city) or city == '"'Paris'"'"}]' "$show"
table '[{"let": "n", "be": "n * 2 + 0.5"}]' "$show"
table '[{"rename": {"name": "city", "city": "name"}}]' "concat(coalesce(name, '-'), ':', city)"
table '[{"fill": ["city", "n"], "with": 0}]' "$show"
table '[{"fill": "n", "by": "previous"}]' "$show"
table '[{"map": "city", "values": {"Berlin": "B", "": "none"}, "else": "other"}]' "$show"
table '[{"map": "city", "values": {"Berlin": ""}}]' "$show"
table '[{"replace": "city", "pattern": "([a-z])[a-z]*$", "by": "\\1."}]' "$show"
table '[{"split": "note", "at": " ", "into": ["name", "city"]}]' "concat(coalesce(name, '-'), '|', coalesce(city, '-'))"
table '[{"cast": "day", "to": "date"}, {"let": "city", "be": "text(day + 1)"}]' "$show"
table '[{"cast": "note", "to": "number", "lenient": true}]' "coalesce(text(note), '?')"
table '[{"group_by": "city", "take": {"s": "sum(n)", "c": "count()", "k": "count(n)", "m": "mean(n * 2)", "f": "first(name)", "l": "last(name)", "d": "max(date(day))"}}]' \
  "concat(coalesce(city, '-'), ':', coalesce(text(s), '-'), ':', c, ':', k, ':', coalesce(text(m), '-'), ':', f, ':', l, ':', d)"
table '[{"join": "zip.csv", "on": "city", "take": ["zip", "land"]}]' "concat(name, ':', coalesce(zip, '-'), coalesce(land, '-'))"
table '[{"join": "zip.csv", "on": "city", "take": "zip", "how": "inner"}]' "concat(name, ':', zip)"
table '[{"join": "zip.csv", "on": "city", "take": "zip", "how": "outer"}]' "concat(coalesce(name, '-'), ':', coalesce(city, '-'), ':', coalesce(zip, '-'))"
table '[{"sort": "n", "descending": true}]' "$show"
table '[{"sort": ["city", "name"]}]' "$show"
table '[{"shift": "n", "into": "m"}]' "concat($n, '<', coalesce(text(m), '-'))"
table '[{"shift": "name", "within": "city", "into": "m"}]' "concat(name, '<', coalesce(m, '-'))"
table '[{"cast": "day", "to": "date"}, {"diff": "day", "into": "d"}]' "concat(name, ':', coalesce(text(d), '-'))"
table '[{"group_by": "city", "take": {"s": "sum(n)"}}]' "concat(coalesce(city, '-'), ':', coalesce(text(s), '-'))" a.csv a.csv
status() { "$@"; echo "status $?"; }
status table '[{"let": "x", "be": "n +"}]' name
status table '[{"let": "x", "be": "nn + 1"}]' text\(x\)
status table '[{"drop": "n"}]' 'text(n)'
status table '[{"keep": ["name"]}]' 'nam'
status table '[{"let": "x"}, {"lett": "x", "be": "1"}]' name
status table '[{"let": "x", "be": "n", "bee": 1}]' name
status table '[{"let": "x", "be": "city * 2"}]' 'text(x)'
status table '[{"join": "pipe:touch ran", "on": "city", "take": "zip"}]' name
status table '[{"join": "no.csv", "on": "city", "take": "zip"}]' name
status table '[{"join": "zip.csv", "on": "city", "take": "zap"}]' name
# A column is not replaced in silence, whether a step has seen it or not.
printf 'city,n\nBerlin,70\n' >n.csv
status table '[{"join": "n.csv", "on": "city", "take": "n"}]' 'text(n)'
status table '[{"where": "n > 1"}, {"join": "n.csv", "on": "city", "take": "n"}]' 'text(n)'
status table '[{"drop": "n"}, {"join": "n.csv", "on": "city", "take": "n"}]' "coalesce(text(n), '-')"
status table '[{"group_by": "city", "take": {"s": "summe(n)"}}]' city
status table '[{"group_by": "city", "take": {"s": "sum(n)"}}]' name
ls ran 2>/dev/null
# The steps go along with the model's recipe; labels are not asked for in predictions.
printf 'x,day,y\n1,2024-01-01,no\n2,2024-01-06,yes\n3,2024-01-07,yes\n4,2024-01-02,no\n5,2024-01-03,\n' >train.csv
cat >r.json <<'EOF'
{"source": {"type": "csv"},
 "steps": [{"where": "not is_missing(y)"}, {"let": "free", "be": "weekday(day) >= 5"},
           {"let": "y", "be": "upper(y)"}],
 "tensors": {"features": {"type": "number", "from": ["x", "free"]},
             "labels": {"type": "category", "from": "y", "classes": ["NO", "YES"]}}}
EOF
echo '{"seed": 1, "input": {"shape": [2]}, "layers": [{"type": "output", "units": 2,
  "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-preprocess --recipe r.json train.csv -o train.dls && dl-shard --head 9 --json train.dls | jq -c '[.features, .labels]' | paste -sd' '
dl-master -q --net net.json --data train.dls --local 1 --epochs 1 -o m.safetensors
printf 'day,x\n2024-02-03,9\nno day,8\n' >new.csv
dl-infer -q --model m.safetensors --raw new.csv --max-bad 1 | jq -c .id
dl-eval -q --model m.safetensors --raw train.csv --json | jq '.evaluations[0].metrics.examples'
# Words for missing values are known to steps.
printf 'x,y\n1,NA\nNA,2\n?,NAN\n' >na.csv
echo '{"source": {"type": "csv", "na": ["NA", "?"]}, "steps": [{"let": "s", "be": "coalesce(x, y)"},
  {"let": "one", "be": "1"}], "tensors": {"features": {"type": "number", "from": ["one"]}, "id": {"type": "id", "from": "s"}}}' >na.json
dl-preprocess -q --recipe na.json na.csv -o na.dls && dl-shard --head 9 --json na.dls | jq -r .id | paste -sd' '
