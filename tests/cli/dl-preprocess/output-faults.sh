# Output that cannot be written: status 73 or 74 and nothing left behind.
printf '1,2,a\n3,4,b\n' >in.csv
dl-preprocess csv --label 3 in.csv >/dev/full
echo "status $?"
dl-preprocess csv --label 3 in.csv -o no/such/out.dls
echo "status $?"
dl-preprocess csv --label 3 in.csv -o in.csv/out.dls
echo "status $?"
seq -f '%g,1,a' 400000 >long.csv
dl-preprocess csv --label 3 --batch 16 long.csv | head -c 1 >/dev/null
echo "closed reader: ${PIPESTATUS[0]}"
ls
