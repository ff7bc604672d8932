#!/bin/bash
# Tables in UTF-16 by their byte order mark, in others as --encoding says, and what is wrong.
status() { "$@"; echo "status $?"; }
for i in $(seq 30); do
  case $((i % 3)) in 0) town=Köln ;; 1) town=Ulm ;; *) town=Österö ;; esac
  echo "$town,$i.5,$((i % 2))"
done | sed '1i stadt,größe,y' >utf8.csv
{ printf '\377\376' && iconv -t UTF-16LE utf8.csv; } >le.csv
{ printf '\376\377' && iconv -t UTF-16BE utf8.csv; } >be.csv
iconv -t UTF-16LE utf8.csv >bare.csv
iconv -t latin1 utf8.csv >latin1.csv
{ cat utf8.csv && iconv -t latin1 utf8.csv | tail -2; } >mixed.csv
table() { dl-preprocess table --label y --no-provenance "$@"; }
table -q utf8.csv -o utf8.dls
for name in le be; do table $name.csv -o $name.dls && cmp utf8.dls $name.dls; done
gzip <le.csv >le.gz && table -q le.gz -o gz.dls && cmp utf8.dls gz.dls
for pair in bare:utf-16le latin1:latin1 latin1:Windows-1252; do
  table -q --encoding ${pair#*:} ${pair%:*}.csv -f -o x.dls
  dl-shard --info --json x.dls | jq -c '[.columns, .recipe.source.encoding]'
done
echo '== by a recipe, and csv'
table -q --encoding latin1 latin1.csv --print-recipe >r.json
dl-preprocess fit r.json latin1.csv -o fitted.json && dl-preprocess --recipe fitted.json latin1.csv -f -o x.dls
dl-preprocess --recipe fitted.json le.csv -f -o x.dls
dl-preprocess csv --header --label y --drop stadt --encoding latin1 latin1.csv -f -o x.dls && dl-shard --info --json x.dls | jq -c '[.columns, .recipe.source.encoding]'
dl-preprocess csv --header --label y --drop stadt be.csv -f -o x.dls
echo '== what is wrong'
status table latin1.csv -o no.dls
status table mixed.csv -o no.dls
status table -q --max-bad 2 mixed.csv -f -o x.dls
status table bare.csv -o no.dls
status table --encoding latin1 le.csv -o no.dls
status table --encoding klingon utf8.csv -o no.dls
status table --encoding utf-16le utf8.csv -o no.dls
printf 'a,y\n1,\201\n' >hole.csv
status table --encoding windows-1252 hole.csv -o no.dls
printf 'a,y\n1,\377\n' >drop.csv # a column that nobody takes
echo '{"source": {"type": "csv"}, "tensors": {"features": {"type": "number", "from": ["a"]}}}' >a.json
status dl-preprocess --recipe a.json drop.csv -o a.dls
echo '{"source": {"type": "csv", "encoding": "klingon"}, "tensors": {"features": {"type": "number", "from": ["a"]}}}' >b.json
status dl-preprocess --recipe b.json drop.csv -o no.dls
ls no.dls 2>&1
