# All columns that are no numbers are told in one run, each with its first row and value.
try() { dl-preprocess csv "$@" >/dev/null; echo "status $?"; }
cat >sales.csv <<'END'
day,"town, part",price,at,note,size,sold
2024-01-31,Ulm,1.5,8:30,,1,yes
31.1.2024,Ulm,2.5,9:30,x,two,no
2024-02-01,Bonn,3,10:00,y,3,
END
try --header --label sold sales.csv
echo "-- as it says"
try --header --label sold sales.csv --drop 'day,"town, part",at'
try --header --label sold sales.csv --drop 'day,"town, part",at,note' --missing skip
sed 's/two/2/' sales.csv >mended.csv
try --header --label sold mended.csv --drop 'day,"town, part",at,note' --missing skip
echo "-- by numbers; targets; an id"
sed 1d sales.csv >bare.csv
try --label 7 --regression --id 5 bare.csv
echo "-- a row that is left out is no problem, and a few are tolerated"
printf '1,2,a\nNA,x,b\n3,4,b\n' >skip.csv
try --label 3 skip.csv --missing skip
printf '1,2,a\nz,x,b\n3,w,b\n' >few.csv
try --label 3 few.csv --max-bad 1 -q
echo "-- the names of columns"
printf 'p,q,r\n1,2,a\n' >header.csv
try --label 3 header.csv
echo "-- a torn file"
printf '1,x,a\n2,3,a\n4,"5,b\n' >torn.csv
try --label 3 torn.csv
echo "-- many"
for _ in $(seq 30); do printf 'w,'; done >many.csv
echo 1,a >>many.csv
try --label 32 many.csv
