# Inputs may be standard input, pipes, gzip and zstd; the product is the same.
printf '1,2,a\n3,4,b\n5,6,a\n' >in.csv
gzip -k in.csv
zstd -q in.csv
pre() { dl-preprocess csv --no-provenance --label 3 "$@"; }
pre in.csv >a.dls
pre <in.csv >b.dls
pre - <in.csv.gz >c.dls
pre in.csv.zst >d.dls
pre 'pipe:cat in.csv' >e.dls
pre 'in.c*v' -o f.dls
for file in b c d e f; do cmp a.dls $file.dls; done
zstd -qt a.dls && echo "zstd accepts it"
pre 'pipe:cat in.csv; exit 3' >/dev/null
echo "status $?"
pre 'pipe:exit 4' >/dev/null
echo "status $?"
dl-preprocess idx --no-labels 'pipe:exit 4' >/dev/null
echo "status $?"
dl-preprocess idx --no-labels 'pipe:head -c 2 /dev/zero; exit 4' >/dev/null
echo "status $?"
pre --no-pipe 'pipe:cat in.csv' >/dev/null
echo "status $?"
pre 'nothing-*.csv' >/dev/null
echo "status $?"
gzip -c in.csv | head -c 20 >cut.gz
pre cut.gz >/dev/null
echo "status $?"
