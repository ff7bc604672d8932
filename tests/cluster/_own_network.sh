# shellcheck shell=bash disable=SC2154  # pid is of _lib.sh
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

# lay_line RATE BURST: lays a line of that rate, each way, from 10.0.0.1 here to
# 10.0.0.2 in the network of the process `far`; needs tc, and _lib.sh.
lay_line() {
  local end
  ip link set lo up
  run far unshare --net sleep 100000
  await "a network" apart "${pid[far]}"
  ip link add near type veth peer name line netns "${pid[far]}" ||
    skip "no veth here"
  ip addr add 10.0.0.1/24 dev near
  ip link set near up
  there ip link set lo up
  there ip addr add 10.0.0.2/24 dev line
  there ip link set line up
  for end in "tc qdisc add dev near" "there tc qdisc add dev line"; do
    $end root tbf rate "$1" burst "$2" latency 100ms || skip "no tbf here"
  done
}
there() { nsenter --net --target "${pid[far]}" "$@"; }
