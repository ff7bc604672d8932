# Options of another format, or without effect beside another one, are refused.
try() { echo "$*"; dl-preprocess "$@" </dev/null; echo $?; }
try idx --header images labels
try cifar --label 1
try csv --label 1 --zero-based
try svmlight --variant 100
try csv --label 1 --no-labels
try idx --no-labels --regression images
try csv --label 1 --id-bytes 4
try cifar --id-bytes 4
try raw --id-bytes 0
try csv --label 1 --examples 0
