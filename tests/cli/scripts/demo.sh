# The demo as `make demo` starts it: its status is that of its commands, and
# nothing that it started outlives it (tests/run looks).
bin=$(dirname "$(command -v dl-master)")
demo=$(make -n -C "$DL_TEST_ROOT" demo BUILD="${bin%/bin}" | grep '^scripts/demo')
[ -n "$demo" ] || exit
# demo BIN LOG: takes the place of this shell.
demo() {
  local out=$PWD/out
  cd "$DL_TEST_ROOT" || exit
  # shellcheck disable=SC2086  # words
  exec ${demo/"$bin"/"$1"} --out "$out" >"$2" 2>&1
}

(demo "$bin" "$PWD/log")
echo "status $?"
tail -n 1 log | sed "s|$PWD/||; s|(.*)|(...)|"

# broken TOOL STATUS: the demo with a tool that only fails.
broken() {
  mkdir "$1"
  ln -s "$bin"/dl-* "$1"
  rm "$1/$1"
  printf '#!/bin/sh\nexit %d\n' "$2" >"$1/$1"
  chmod +x "$1/$1"
  (demo "$PWD/$1" "$PWD/log")
  echo "with a $1 that fails: status $?"
}
broken dl-shard 9
broken dl-master 5

(demo "$bin" "$PWD/stopped.log") &
demo=$!
until grep -qs '^\$ wait' stopped.log || ! kill -0 $demo; do
  read -rt 0.1 <> <(:)
done
kill -TERM $demo
wait $demo
echo "terminated: status $?"
