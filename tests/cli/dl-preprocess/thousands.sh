#!/bin/bash
# Commas between thousands are found, said, and left out, by table and by its recipe.
status() { "$@"; echo "status $?"; }
printf '%s\n' 'price,people,pi,y' '"1,234.50","12,000","3,14",a' '"-999.5","8","2,71",b' '"1,000,000",700,"1,41",a' >c.csv
dl-preprocess table --label y c.csv --print-recipe 2>log >r.json && cat log && jq -c .source r.json
dl-preprocess fit r.json c.csv -o f.json && dl-preprocess -q --recipe f.json c.csv -o c.dls
dl-preprocess table -q --label y c.csv -o t.dls
for stream in c t; do dl-shard --head 3 --json $stream.dls | jq -c .features; done
echo '== 1,234 alone is thousands beside commas, and a decimal beside semicolons'
printf '%s\n' 'a,y' '"1,234",u' '5,v' >comma.csv
printf '%s\n' 'a;b;c;y' '1,234;1,234;1,500;u' '5;1,234,567;2,500.5;v' >semicolon.csv
for table in comma semicolon; do
  dl-preprocess analyze --label y $table.csv 2>&1 | grep -E '^dl-preprocess|^[abc] |source'
done
dl-preprocess table --label y --decimal . semicolon.csv --print-recipe 2>&1 >/dev/null | head -3
echo '== a comma that separates no thousands'
printf '"3,14",1,"0,5",a\n' >>c.csv
status dl-preprocess -q --recipe f.json c.csv -f -o no.dls
dl-preprocess table -q --label y c.csv --print-recipe | jq -c .source
echo '== what is wrong'
try() {
  jq ".source += $1" f.json >w.json && status dl-preprocess -q --recipe w.json c.csv -f -o no.dls
}
try '{"thousands_of": ["prise"]}'
try '{"decimal": ","}'
try '{"decimal": ",", "decimal_of": ["pi", "price"]}'
try '{"thousands_of": "price"}'
ls no.dls 2>&1
echo '== no number with thousands begins with 0'
printf '%s\n' 'p,b,y' '"0,250",1,0' '"0,500",2,1' '"0,750",3,0' '"0,125",1,1' '"0,250",1,0' >z.csv
dl-preprocess table --label y z.csv --print-recipe 2>&1 >/dev/null | grep ' p '
jq -n '{source: {type: "csv", thousands_of: ["p"]}, tensors: {features: {type: "number", from: ["p"]}}}' >z.json
status dl-preprocess -q --recipe z.json z.csv -o no.dls
sed 's/,b,/,/; s/",[0-9],/",/' z.csv >alone.csv
status dl-preprocess table -q --label y alone.csv -o no.dls
echo '== thousands that are seen late, or beside a bad comma, are no missing values'
awk 'BEGIN { print "price,y"; for (i = 0; i < 60000; ++i) print i % 997 "," i % 2; print "\"1,000\",1"; print "\"1,001\",0" }' >late.csv
awk 'BEGIN { print "price,b,y"; for (i = 1000; i < 1999; ++i) printf "\"%s\",%d,%d\n", i == 1500 ? "1,50" : "1," substr(i, 2), i % 7, i % 2 }' >bad.csv
for table in late bad; do
  dl-preprocess table --label y $table.csv --print-recipe 2>&1 >$table.json | grep price
  dl-preprocess analyze --label y $table.csv 2>&1 | grep '^price: '
  dl-preprocess table --label price $table.csv --regression --print-recipe 2>&1 >/dev/null | head -n 1
done
jq '.source.thousands_of = ["price"] | .tensors.features = {type: "number", from: ["price"]}' late.json >l.json
dl-preprocess fit l.json late.csv -o l.fit && dl-preprocess -q --recipe l.fit late.csv -o l.dls &&
  dl-shard --head 60002 --json l.dls | jq -c .features | tail -n 2
