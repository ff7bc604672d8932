# shellcheck shell=bash
# shellcheck disable=SC2154  # pid: of tests/cluster/_lib.sh
# What the tests of engines share.  Each runs alone in namespaces of processes,
# mounts, networks and host names, so that what it starts ends with it and nothing of
# the machine is touched; in there hosts can be made, which have a network and a name
# of their own.  A test whose engine is not there is skipped with a reason.
#
#   need COMMAND...   these must be installed
#   alone             from here on in namespaces; needs root
#
# _training.sh comes after `alone`, as it begins to watch the time.
skip() { echo "$*" >&2; exit 77; }

need() { # COMMAND...
  local command
  for command; do
    command -v "$command" >/dev/null ||
      skip "no $command: scripts/bootstrap --engines installs it"
  done
}

# shellcheck disable=SC2034  # for the tests
cluster_examples=$DL_TEST_ROOT/scripts/share/examples/cluster

alone() {
  if [ -z "${DL_TEST_ALONE:-}" ]; then
    [ "$(id -u)" = 0 ] || skip "needs root, for namespaces"
    local spaces=(--pid --fork --kill-child --mount --net --uts --ipc)
    unshare "${spaces[@]}" true 2>/dev/null || skip "no namespaces here"
    DL_TEST_ALONE=1 exec unshare "${spaces[@]}" bash "$0"
  fi
  unset DL_TEST_ALONE
  mount -t proc proc /proc
  ip link set lo up
  hostname head
}

# hosts NAME...: each with a network and a host name of its own, all on one switch, on
# which this one is head, 10.77.0.1.
hosts() {
  local name number=10
  switch
  for name; do
    number=$((number + 1))
    host "$name" 10.77.0.$number
    echo "10.77.0.$number $name" >>hosts
  done
}
switch() {
  ip link add switch type bridge 2>/dev/null || skip "no bridges here"
  ip addr add 10.77.0.1/16 dev switch
  ip link set switch up
  printf '127.0.0.1 localhost\n10.77.0.1 head\n' >hosts
  mount --bind hosts /etc/hosts
}
host() { # NAME ADDRESS [HOSTNAME]
  local hostname=${3:-$1}
  run "$1" unshare --net --uts sh -c "hostname $hostname; exec sleep infinity"
  await "$1 to be a host" is_host "$1" "$hostname"
  ip link add "$1" type veth peer name line netns "${pid[$1]}"
  ip link set "$1" master switch up
  on "$1" sh -c "ip link set lo up; ip addr add $2/16 dev line; ip link set line up
    ip route add default via 10.77.0.1"
}
is_host() { [ "$(on "$1" hostname)" = "$2" ]; }
on() { # HOST COMMAND...
  nsenter --net --uts --target "${pid[$1]}" "${@:2}"
}
