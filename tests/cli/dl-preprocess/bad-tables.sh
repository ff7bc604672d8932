#!/bin/bash
# Damaged and odd tables: one sentence each, in little memory.
try() { dl-preprocess table -q --label y "$@" -o x.dls; echo "status $?"; }
rows() { for i in $(seq 24); do echo "$i.5,$((i % 3)),$([ $((i % 2)) = 0 ] && echo p || echo q)"; done | sed '1i a,b,y'; }
rows >good.csv
echo '== quotes that never close'
{ cat good.csv && echo '1,"2,p' && rows | sed 1d; } >open.csv && try open.csv
{ echo a,b,y && echo '1,"2,p' && yes 1,2,p | head -c 140M; } >open.csv && try open.csv
echo '== a line of 200 MB, a million columns'
{ echo a,b,y && head -c 200M /dev/zero | tr '\0' x; } >line.csv && (ulimit -v 2000000 && try line.csv)
seq 1000000 | paste -sd, >wide.csv && try wide.csv
rm open.csv line.csv wide.csv
echo '== zero bytes, twin names, no names, short and long rows'
printf 'a,y\n1,p\n2\0,q\n' >t.csv && try t.csv
printf 'a,a,y\n1,2,p\n' >t.csv && try t.csv
printf ',,y\n1,2,p\n2,3,q\n' >t.csv && try t.csv
{ cat good.csv && printf '1,2,p,3\n1,2\n'; } >t.csv && try t.csv && try t.csv --max-bad 1 -f
try t.csv --max-bad 2
echo '== numbers beyond all'
{ cat good.csv && echo 1e400,1,p; } >t.csv && dl-preprocess table --label y t.csv -f -o x.dls 2>&1 | grep ' a '
dl-preprocess csv --header --label y --dtype f64 t.csv -o x.dls
recipe() { echo '{"source": {"type": "csv"}, "steps": ['"$1"'], "tensors": {"features": {"type": "number", "from": ["c"]}}}' >r.json; }
recipe '{"let": "c", "be": "a + 1"}' && dl-preprocess -q --recipe r.json t.csv -f -o x.dls
recipe '{"let": "c", "be": "a + 1e400"}' && dl-preprocess -q --recipe r.json good.csv -f -o x.dls
for i in $(seq 24); do echo "90071992547409$((90 + i % 9)),$((i % 2))"; done | sed '1i k,y' >long.csv
dl-preprocess table --label y long.csv -f -o x.dls 2>&1 | grep ' k '
dl-preprocess csv --header --label y --dtype i64 long.csv -f -o x.dls
echo '== dates of many kinds'
for d in 2024-01-31 31.01.2024 01/31/2024 31/01/2024 20240131 2024-01-31T10:00:00Z 'Jan 31, 2024' 2024/01/31; do
  for k in 1 2 3; do echo "\"$d\",$k,$((k % 2))"; done
done | sed '1i d,n,y' >dates.csv
dl-preprocess table --label y dates.csv -f -o x.dls 2>&1 | grep ' d '
echo '== a step that would replace a column'
recipe '{"rename": {"a": "b"}}, {"rename": {"b": "c"}}' && dl-preprocess -q --recipe r.json good.csv -f -o x.dls
recipe '{"rename": {"a": "b", "b": "c"}}' && dl-preprocess -q --recipe r.json good.csv -f -o x.dls && dl-shard --head 1 --json x.dls | jq -c .features
echo '== very many categories'
seq 1100000 | sed 's/.*/k&,&/; 1i a,y' >many.csv
echo '{"source": {"type": "csv"}, "tensors": {"features": {"type": "category", "from": "a", "encode": "one_hot"}}}' >r.json
dl-preprocess fit r.json many.csv -o fitted.json
dl-preprocess csv --header --label a many.csv -f -o x.dls
echo '== a database that is locked'
python3 - <<'END'
import sqlite3, subprocess
db = sqlite3.connect("l.db")
db.execute("create table t (a int, y text)")
db.commit()
db.execute("begin exclusive")
db.execute("insert into t values (1, 'a')")
got = subprocess.run("dl-preprocess table -q --label y --table t l.db -o no.dls", shell=True, capture_output=True, text=True)
print(got.stderr, "status", got.returncode)
END
echo '== empty values'
for option in --list --ledger --label --drop --encoding --widths --recipe; do dl-preprocess table $option '' good.csv 2>&1 | head -1; done
ls no.dls 2>&1
