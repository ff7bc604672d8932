#!/bin/bash
# Text of editors that begin it with a byte order mark is read as text without; UTF-16
# is refused with the remedy: networks, tables, SVMLight, lists of hosts, keys, reports.
mark=$'\xEF\xBB\xBF'
with_mark() { printf %s "$mark" | cat - "$1" >"$2"; }
printf '1 1:1\n-1 1:2\n1 1:1\n' >plain.svm
with_mark plain.svm mark.svm
for file in plain.svm mark.svm; do
  dl-preprocess svmlight --features 1 --no-provenance -o "$file.dls" "$file"
done
cmp plain.svm.dls mark.svm.dls && echo 'svmlight: the same'
printf 'x,y\n1,a\n2,b\n' >plain.csv
with_mark plain.csv mark.csv
printf 'sep=;\r\nx;y\r\n1;a\r\n2;b\r\n' >excel.csv
with_mark excel.csv excel-mark.csv
for file in plain.csv mark.csv excel.csv excel-mark.csv; do
  dl-preprocess csv --header --label y --no-provenance -o "$file.dls" "$file"
  cmp plain.csv.dls "$file.dls" && echo "$file: the same"
done
cat >plain.json <<'END'
{"seed": 1, "input": {"shape": [1]},
 "layers": [{"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
with_mark plain.json mark.json
for file in plain mark; do
  dl-master -q --net $file.json --data plain.svm.dls --mode sync --local 1 --epochs 1 -o $file.safetensors
done
cmp plain.safetensors mark.safetensors && echo 'network: the same'
dl-eval --json --model plain.safetensors plain.svm.dls >report.json
with_mark report.json mark-report.json
dl-eval --merge --json mark-report.json | cmp - report.json && echo 'report: the same'
dl-keygen --worker a keys >keys.txt
for key in keys/server.key keys/server.pub keys/workers/a.pub; do
  sed 's/$/\r/' $key >crlf
  with_mark crlf changed
  cat changed >$key
done
dl-master -q --net plain.json --data plain.svm.dls --keys keys --bind tcp://lo:0 --wait 100ms \
  -o keys.safetensors
echo "keys: status $?"
echo '-- UTF-16'
for file in plain.json plain.csv plain.svm; do
  iconv -f UTF-8 -t UTF-16 $file >wide
  iconv -f UTF-8 -t UTF-16LE $file >bare
  iconv -f UTF-8 -t UTF-32 $file >wider
  iconv -f UTF-8 -t UTF-32BE $file >bigger
  for wide in wide bare wider bigger; do
    case $file in
      *.json) dl-master -q --net $wide --data plain.svm.dls --local 1 -o wide.safetensors ;;
      *.csv) dl-preprocess csv --header --label y -o wide.dls $wide ;;
      *.svm) dl-preprocess svmlight --features 1 -o wide.dls $wide ;;
    esac
    echo "$file: status $?"
  done
done
