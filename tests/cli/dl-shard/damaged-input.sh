#!/bin/sh
# One flipped bit, wherever it is, and files that are something else.
make-dataset 3 2 >good.dls
size=$(wc -c <good.dls)
at=0
while [ "$at" -lt "$size" ]; do
  byte=$(od -An -tu1 -j "$at" -N 1 good.dls)
  {
    head -c "$at" good.dls
    # shellcheck disable=SC2059  # the format is the byte
    printf "\\$(printf %o $((byte ^ 16)))"
    tail -c +$((at + 2)) good.dls
  } >flipped.dls
  dl-shard --verify flipped.dls >/dev/null 2>&1
  [ $? -eq 65 ] || echo "byte $at: a flipped bit went unnoticed"
  at=$((at + 7))
done
echo 'version https://git-lfs.github.com/spec/v1' >pointer.dls
: >zero.dls
printf 'a,b\n1,2\n' >table.dls
gzip -c good.dls >packed.dls
zstd -qc good.dls >twice.dls
for file in pointer zero table packed twice; do
  dl-shard -o x $file.dls
  echo $?
done
dl-shard -o x "$DL_TEST_ROOT/tests/golden/dataset-1.0-flipped.dls" 2>&1 |
  sed "s|'.*/|'|"
