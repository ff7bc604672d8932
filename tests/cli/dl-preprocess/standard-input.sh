#!/bin/bash
# A table from a pipe is kept in a file meanwhile, which has no name.
# shellcheck disable=SC2002  # a pipe is tested, and no redirection
status() { "$@"; echo "status $?"; }
for i in $(seq 40); do echo "$i,$((i % 7)),$([ $((i % 3)) = 0 ] && echo yes || echo no)"; done | sed '1i id,n,y' >t.csv
mkdir tmp && export TMPDIR=tmp
dl-preprocess table -q --label y --no-provenance t.csv -o file.dls
cat t.csv | dl-preprocess table --label y --no-provenance - -o pipe.dls && cmp file.dls pipe.dls
dl-preprocess table --label y --no-provenance <t.csv -q -o redirected.dls && cmp file.dls redirected.dls
gzip -c t.csv | dl-preprocess table -q --label y --no-provenance - -o gz.dls && cmp file.dls gz.dls
cat t.csv | dl-preprocess table -q --label y --print-recipe - | jq -c '.tensors.labels'
cat t.csv | dl-preprocess analyze - | sed -n 1,4p
printf 'c%s\n' 1 2 3 4 5 6 | sed '1i t' | awk '{print NR-1 "," $0}' | sed '1s/0/x/' | dl-preprocess series -q --label x --window 2 - -o series.dls && dl-shard --info --json series.dls | jq .examples
ls tmp
echo '== what is wrong'
{ cat t.csv && echo 1,2; } | status dl-preprocess table -q --label y - -o no.dls
status dl-preprocess table --label y <(cat t.csv) -o no.dls 2>&1 | sed 's,/dev/fd/[0-9]*,/dev/fd/N,'
cat t.csv | TMPDIR=none status dl-preprocess table --label y - -o no.dls
: | status dl-preprocess table --label y - -o no.dls
printf 'SQLite format 3\0' | status dl-preprocess table --label y --table t - -o no.dls
ls no.dls 2>&1
