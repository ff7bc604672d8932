#!/bin/bash
# Tables and queries of SQLite: types follow from the rows, numbers keep their digits, NULL is
# missing, later rows come by the recipe in the model; a recipe's query writes nothing and reads
# no other file.
status() { "$@"; echo "status $?"; }
python3 - <<'EOF'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("create table customers (id text, age integer, balance real, plan text, joined text, churn text)")
rows = [(f"c{i}", 20 + i % 40, None if i % 7 == 3 else i / 3, ["basic", "plus"][i % 2],
         f"2024-0{1 + i % 9}-1{i % 9}", ["no", "yes"][i % 3 == 0]) for i in range(60)]
db.executemany("insert into customers values (?, ?, ?, ?, ?, ?)", rows)
db.execute('create table "odd ""name" (x real, b blob)')
db.execute('insert into "odd ""name" values (0.1, ?), (1e300, null)', (b"\x00\x01",))
db.commit()
EOF
dl-preprocess table --table customers --label churn --id id a.db -o t.dls
dl-shard --head 2 --json t.dls | jq -c '[.id, .labels, (.features | length)]'
dl-preprocess table -q --query 'select age, balance * 2 as twice, churn from customers where balance is not null limit 20' \
  --label churn a.db -o q.dls && dl-shard --head 2 --json q.dls | jq -c .features
recipe() { echo '{"source": {"type": "sqlite", '"$1"'}, "steps": [{"where": "not is_missing(x)"}],
  "tensors": {"features": {"type": "number", "from": ["one"]}, "id": {"type": "id", "from": "x"}}}' >r.json; }
recipe '"query": "select x, 1 as one from \"odd \"\"name\""'
dl-preprocess -q --recipe r.json a.db -o r.dls && dl-shard --head 2 --json r.dls | jq -c .id
recipe '"table": "odd \"name"'
status dl-preprocess -q --recipe r.json a.db -o no.dls
for query in 'drop table customers' 'select 1 as x; drop table customers' "attach 'b.db' as b" 'select 1' 'selec' \
  'select x as one, b as x from \"odd \"\"name\"' "select load_extension('x')" 'select 1 as x, 2 as x'; do
  recipe '"query": "'"$query"'"'
  status dl-preprocess -q --recipe r.json a.db -o no.dls
done
recipe '"query": "select 1", "table": "customers"'
status dl-preprocess -q --recipe r.json a.db -o no.dls
status dl-preprocess table --label churn a.db -o no.dls
status dl-preprocess table --label churn --table custommers a.db -o no.dls
printf 'a,b\n1,2\n' >a.csv
status dl-preprocess table --label b --table t a.csv -o no.dls
status dl-preprocess csv --label b --table t a.csv -o no.dls
recipe '"table": "customers"'
status dl-preprocess -q --recipe r.json missing.db -o no.dls
status dl-preprocess -q --recipe r.json - -o no.dls <a.db
head -c 5000 a.db >cut.db
status dl-preprocess -q --recipe r.json cut.db -o no.dls
ls b.db no.dls 2>/dev/null
