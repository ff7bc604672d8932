# Mistakes on the command line.
try() { dl-preprocess "$@" </dev/null; echo "status $?"; }
try
try cvs x.csv
try csv --bogus
try csv --labe 3
try csv --label 3 --batch 0 x.csv
try csv --label 3 --json x.csv
try idx one.gz
try svmlight x.svm
try cifar --variant 11 x.bin
try images --size 2x2 --part '' x.jpg
DL_PREPROCESS_BATCH=x try csv --label 3
dl-preprocess --version | head -n 1
