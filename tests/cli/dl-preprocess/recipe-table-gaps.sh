#!/bin/bash
# Gaps in tables that a recipe takes: empty texts and absent keys are missing where the
# recipe says what becomes of them; two columns of one name, other fits, and options for
# pictures are refused.
number='{"type": "number", "from": ["a", "b"], "missing": "mean"}'
recipe() { # SOURCE
  echo '{"source": {"type": "'"$1"'"}, "tensors": {"features": ['"$number"'],
    "labels": {"type": "category", "from": "y", "classes": ["n", "y"]}}}'
}
values() { # RECIPE INPUT
  dl-preprocess -q --recipe "$@" -o x.dls && dl-shard --head 3 --json x.dls | jq -c '.features'
}
recipe csv >c.json
recipe jsonl >j.json
printf 'a,b,y\n1,,n\n3,8,y\n,4,n\n' >t.csv
dl-preprocess fit c.json t.csv -o c.fit && values c.fit t.csv
printf '{"a": 1, "y": "n"}\n{"a": 3, "b": 8, "y": "y"}\n{"b": 4, "a": null, "y": "n"}\n' >t.jsonl
dl-preprocess fit j.json t.jsonl -o j.fit && values j.fit t.jsonl
status() { "$@"; echo "status $?"; }
printf 'a,b,a,y\n1,2,3,n\n' >twice.csv
status dl-preprocess -q --recipe c.fit twice.csv -o no.dls
status dl-preprocess -q csv --recipe c.fit t.csv -o no.dls
status dl-preprocess -q --recipe c.fit --split train=0.5,test=0.5 t.csv -o no.dls
status dl-preprocess -q --recipe c.fit --ledger l t.csv -o no.dls
printf 'a,b,y\n1,,n\n5,9,y\n' >other.csv
dl-preprocess fit c.json other.csv -o other.fit
dl-preprocess -q --recipe c.fit t.csv -o one.dls
dl-preprocess -q --recipe other.fit t.csv -o two.dls
status dl-shard -q -o mix one.dls two.dls
printf '{"a": 1, "b": {"c": 2}, "b.c": 7, "y": "n"}\n' >both.jsonl
status dl-preprocess -q --recipe j.fit both.jsonl -o no.dls
printf 'a,b,y\n,,n\n,,what\n' >bad.csv
dl-preprocess -q --recipe c.fit t.csv --json -o json.dls | jq -c '[.examples, .filled]'
dl-preprocess -q --recipe c.fit bad.csv --max-bad 1 --json -o bad.dls | jq -c '[.examples, .filled]'
ls no* mix* 2>/dev/null
