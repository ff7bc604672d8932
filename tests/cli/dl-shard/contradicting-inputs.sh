#!/bin/sh
# Both inputs are named, and their difference.
make-dataset 10 >a.dls
make-dataset 10 4 1 regression >b.dls
dl-shard -o x a.dls b.dls
dl-shard --info a.dls b.dls
cat a.dls b.dls | dl-shard -o x
cat a.dls b.dls >ab.dls
dl-shard --info ab.dls

printf 'a,b,kind\n1,2,cat\n3,4,dog\n' >1.csv
printf 'a,b,kind\n1,2,cat\n3,4,cow\n' >2.csv
printf 'a,c,kind\n1,2,cat\n3,4,dog\n' >3.csv
for i in 1 2 3; do
  dl-preprocess csv -q --header --label kind -o $i.dls $i.csv
done
dl-preprocess csv -q --header --label kind --max-bad 1 -o numbered.dls 1.csv
printf 'a,b,kind,name\n1,2,cat,tom\n3,4,dog,rex\n' >4.csv
dl-preprocess csv -q --header --label kind --id name -o ids.dls 4.csv
dl-shard -o x 1.dls 2.dls
dl-shard -o x 1.dls 3.dls
dl-shard -o x 1.dls numbered.dls
dl-shard -o x numbered.dls 1.dls
dl-shard -o x 1.dls ids.dls

# Long lists are shown from the place where they differ.
for last in z y; do
  (echo a,kind; for c in a b c d e f g h i $last; do echo "1,$c"; done) |
    dl-preprocess csv -q --header --label kind -o long-$last.dls
done
dl-shard -o x long-z.dls long-y.dls
