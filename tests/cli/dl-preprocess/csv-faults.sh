# Each mistake in a table is one sentence with its place, and leaves no file.
try() {
  dl-preprocess csv "$@" -o out.dls
  echo "status $?"
}
printf '1,2,a\n3,nan,b\n' >nan.csv
printf '1,2,a\n3,b\n' >short.csv
printf '1,2,a\n3,"4,b\n' >open.csv
printf '1,2,a\n3,x,b\n4,y,b\n5,6,a\n' >bad.csv
try --label -1 nan.csv
try --label 3 short.csv
try --label 3 open.csv
try --label 4 short.csv
try --label -1 --classes x,y nan.csv
try short.csv
try --label 3 missing.csv
try --label 3 bad.csv --max-bad 1
try --label 3 nan.csv --missing drop
printf '1,2,a\n1.7e308,1e200,b\n' >large.csv
try --label 3 --dtype f64 large.csv
try --label 3 --dtype f64 --drop 1 large.csv
: >empty.csv
try --label 3 empty.csv
ls out.dls 2>/dev/null
echo "-- tolerated"
try --label 3 bad.csv --max-bad 2 --json
echo '== a class that is no UTF-8'
printf 'x,y,kind\n1,2,caf\351\n3,4,tea\n5,6,tea\n' >latin.csv
dl-preprocess table --label kind latin.csv -o x.dls
echo "status $?"
echo '== columns without a name stay where they are'
printf 'a,,b,,c,y\n1,2,3,4,5,u\n6,7,8,9,10,v\n' >nameless.csv
echo '{"source": {"type": "csv"}, "tensors": {"features": {"type": "number", "from": ["a", "c"]},
  "labels": {"type": "category", "from": "y"}}}' >nameless.json
dl-preprocess -q --recipe nameless.json nameless.csv | dl-shard --head 2 --json
