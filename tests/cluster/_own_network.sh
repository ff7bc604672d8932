# shellcheck shell=bash
# For tests that lay lines between networks of their own: sourced before _lib.sh, it
# runs the test again in a network namespace, or skips it where there are none.
skip() { echo "$*" >&2; exit 77; }
for tool in ip nsenter ${also:-}; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
if [ -z "${alone:-}" ]; then
  map=()
  [ "$(id -u)" = 0 ] || map=(--map-root-user)
  unshare --net "${map[@]}" true 2>/dev/null ||
    skip "no network namespaces here"
  alone=1 exec unshare --net "${map[@]}" bash "$0"
fi
network_of() { readlink "/proc/$1/ns/net"; }
apart() { [ "$(network_of self)" != "$(network_of "$1")" ]; }
