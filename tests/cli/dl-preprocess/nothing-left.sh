# Where no example is left, the reasons are told: bad records, missing values,
# long sequences.
try() { dl-preprocess csv "$@" -o x.dls; echo "status $?"; ls x.dls 2>&1; }
for i in 1 2 3 4 5 6 7; do echo "$i,x$i,a"; done >bad.csv
try --label 3 --max-bad 7 bad.csv
try --label 3 --max-bad 7 --json bad.csv
try --label 3 --max-bad 2 bad.csv
printf '1,,a\n,2,b\n' >missing.csv
try --label 3 --missing skip missing.csv
printf 'p,1,a\np,2,a\n' >long.csv
try --label 3 --sequence 1 --steps 1 --longer skip long.csv
