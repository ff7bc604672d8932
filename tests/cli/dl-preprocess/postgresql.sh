#!/bin/bash
# A table of a real PostgreSQL, through psql.
server=$(command -v postgres || find /usr/lib/postgresql -name postgres 2>/dev/null | sort | tail -1)
{ [ -n "$server" ] && command -v psql >/dev/null; } || { echo "no PostgreSQL is installed" >&2; exit 77; }
bin=$(dirname "$(readlink -f "$server")")
as() (cd / && if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi; )
folder=$(mktemp -d /tmp/dl-pg-XXXXXX) && chmod 777 "$folder"
trap 'as "$bin/pg_ctl" -D "$folder/db" -m immediate -s -w stop; rm -rf "$folder"' EXIT
as "$bin/initdb" -D "$folder/db" -U tester -A trust -E UTF8 --locale=C >/dev/null 2>"$folder/log" ||
  { echo "initdb does not run here" >&2; trap 'rm -rf "$folder"' EXIT; exit 77; }
as "$bin/pg_ctl" -D "$folder/db" -s -w -l "$folder/server.log" -o "-k $folder -c listen_addresses=" start >/dev/null ||
  { echo "postgres does not start here" >&2; exit 77; }
ask() { psql -h "$folder" -U tester -d postgres -q -v ON_ERROR_STOP=1 -c "$1"; }
ask "create table customers (id text, age integer, balance double precision, plan text, joined date, churn boolean)"
ask "insert into customers select 'c' || i, 20 + i % 40, case when i % 7 = 3 then null else i / 3.0::float8 end,
  case i % 2 when 0 then 'basic, old' else 'plus' end, date '2024-01-01' + i % 90, i % 3 = 0 from generate_series(0, 59) i"
export TMPDIR=. && ask "\\copy customers to stdout csv header" | dl-preprocess table --label churn --id id - -o t.dls
dl-shard --head 2 --json t.dls | jq -c '[.id, .labels, (.features | length)]'
