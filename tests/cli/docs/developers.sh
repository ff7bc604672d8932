#!/bin/bash
# Paths that the pages for developers name exist, and the map has every room.
# shellcheck disable=SC2016,SC2013  # backticks of Markdown; names without blanks
cd "$DL_TEST_ROOT" || exit
exists() { # PAGE PATH: relative to the repository, libcore, libcore/cluster or the page
  local base
  for base in . libcore libcore/cluster "$(dirname "$1")"; do
    compgen -G "$base/$2" >/dev/null && return
  done
  echo "$1: no $2"
}
count=0
for page in CONTRIBUTING.md libcore/README.md tests/README.md; do
  while read -r path; do
    exists "$page" "$path"
    count=$((count + 1))
  done < <({
    grep -oE '`[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' | grep -vE '^--|NAME|FOLDER|x\.h|^build/|^conv1/' |
      grep -E '/|\.(h|cpp|md|inc|sh)$'
    grep -oE '\]\([^)#:]+\)' "$page" | tr -d '])('
    sed -n '/^```/,/^```/p' "$page" | grep -oE '\b(run_dir|master|worker|loading|nn|tools|exchange)/[a-z_]+\.h|(scripts|tests)/[a-z/-]+(\.sh)?'
  } | sort -u)
done
[ $count -gt 50 ] || echo "few paths: $count"
for room in $(sed -n 's/^dl_library(\([a-z_/]*\).*/\1/p' CMakeLists.txt); do
  grep -q "^| \`$room\` |" libcore/README.md || echo "libcore/README.md: no $room"
done
