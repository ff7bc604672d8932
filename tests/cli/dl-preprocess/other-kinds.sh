# The remedy, where an input is packed, is of another kind, or an option is
# missing: each sentence says what helps.
try() { dl-preprocess "$@" >/dev/null; echo "status $?"; }
printf 'a,b,class\n1,2,x\n3,4,y\n' >t.csv
try csv --label 3 t.csv
tr , ';' <t.csv >semicolon.csv
try csv --header --label class semicolon.csv
printf '\3757zXZ\0more' >t.csv.xz
try csv --label 3 t.csv.xz
try csv --label 3 <t.csv.xz
printf '\377\376a\0,\0' >utf16.csv
try csv --label 3 utf16.csv
gzip <utf16.csv >utf16.csv.gz
try csv --label 3 utf16.csv.gz
dl-preprocess csv --header --label class t.csv -o t.dls
try csv --header --label class t.dls
printf '1,caf\351\n2,caf\350\n' >latin1.csv
try csv --label 2 latin1.csv
dl-preprocess csv --label 2 'pipe:iconv -f LATIN1 -t UTF-8 latin1.csv' | dl-shard --info | grep caf
for i in $(seq 100); do echo "$i,$i.5"; done >price.csv
try csv --label 2 price.csv
try csv --label 2 --regression price.csv
printf '1,2\n3,\n' >hole.csv
try csv --label 2 --regression --missing fill:0 hole.csv
head -c 1000000 /dev/zero | tr '\0' , >commas.csv
try csv --label 1 commas.csv
printf 'p,1,a\np,2,a\nq,3,b\np,4,a\n' >apart.csv
try csv --label 3 --sequence 1 --steps 5 apart.csv
try csv --label 3 --sequence 1 --steps 1 apart.csv
