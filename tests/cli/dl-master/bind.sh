#!/bin/bash
# Interfaces, names and addresses to listen at, with IPv6 and without, which libzmq
# binds otherwise.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
unshare -n true 2>/dev/null || {
  echo 'no network namespaces for this user' >&2
  exit 77
}
cat >listen <<'END'
for bind; do
  rm -rf m.safetensors.run master.json
  dl-master -q --net net.json --data 'train-*.dls' -o m.safetensors --insecure \
    --wait 100ms --bind "$bind" --master-file master.json 2>err
  echo "$bind: status $?"
  grep -v '^dl-master: no worker' err
  [ ! -e master.json ] || grep -o '"tcp://[^"]*:' master.json
done
END
echo '-- IPv4 and IPv6'
unshare -n bash -c 'ip link set lo up; . ./listen tcp://lo:0 tcp://localhost:0 \
  "tcp://127.0.0.1:0" "tcp://[::1]:0"'
echo '-- several addresses of an interface'
unshare -n bash -c 'ip link set lo up; ip addr add 10.9.8.7/32 dev lo
  ip -6 addr add fd00::7/128 dev lo nodad
  . ./listen tcp://lo:0 "tcp://[fd00::7]:0" tcp://10.9.8.7:0
  ip addr del 10.9.8.7/32 dev lo; ip addr del 127.0.0.1/8 dev lo; . ./listen tcp://lo:0'
echo '-- an interface that is down'
unshare -n bash -c '. ./listen tcp://lo:0'
echo '-- no IPv6'
unshare -n bash -c 'sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.lo.disable_ipv6=1
  ip link set lo up; . ./listen tcp://lo:0 tcp://localhost:0 tcp://127.0.0.1:0
  . ./listen "tcp://*:0" | sed "s/\"tcp.*/at every address/"'
echo '-- no such host'
# shellcheck source=/dev/null
. ./listen tcp://no-such-host.invalid:0
