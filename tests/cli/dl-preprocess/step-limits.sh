#!/bin/bash
# Formulas that would fill the stack, texts that would fill the memory, and dates beyond the years
# that dates have.
printf 'name,day\nAnn,2024-01-01\n' >a.csv
try() { # FORMULA, perhaps from standard input
  jq -n --rawfile be <(printf %s "${1:-$(cat)}") '{source: {type: "csv"},
    steps: [{let: "shown", be: $be}, {let: "one", be: "1"}],
    tensors: {features: {type: "number", from: ["one"]}, id: {type: "id", from: "shown"}}}' >r.json
  dl-preprocess -q --force --recipe r.json a.csv -o a.dls && dl-shard --head 1 --json a.dls | jq -r .id
}
many() { python3 -c "import sys; print('text(' + '$1'.join(['1'] * int(sys.argv[1])) + ')', end='')" "$2"; }
many + 4000 | try
many + 6000 | try
echo "--- dates"
try "coalesce(text(date(day) + 365), 'missing')"
try "coalesce(text(date(day) + 4000000), 'missing')"
try "coalesce(text(date(day) - 5000000), 'missing')"
echo "--- texts"
doubled() { # TIMES
  jq -n --argjson times "$1" '{source: {type: "csv"},
    steps: ([range($times) | {let: "name", be: "concat(name, name)"}] + [{let: "one", be: "1"}]),
    tensors: {features: {type: "number", from: ["one"]}, id: {type: "id", from: "name"}}}' >r.json
  dl-preprocess -q --force --recipe r.json a.csv -o a.dls
  echo "status $?"
}
doubled 6
doubled 40
