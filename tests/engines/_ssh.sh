# shellcheck shell=bash
# Hosts h1 to h4 with an sshd each, which let us in by a key, and this one, boss.
# shellcheck source=tests/engines/_lib.sh
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
: "${limit:=200}"
need sshd ssh ssh-keygen
alone
# shellcheck source=tests/engines/_training.sh
. "$DL_TEST_ROOT/tests/engines/_training.sh"
hosts h1 h2 h3 h4
echo "10.77.0.1 boss" >>hosts
mkdir ssh
mount -t tmpfs -o mode=700 tmpfs /root  # everyone's home
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f ssh/$key; done
cat >ssh/config <<END
IdentityFile $PWD/ssh/user
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
END
mkdir bin
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$PWD/ssh/config" >bin/ssh
chmod +x bin/ssh
for name in h1 h2 h3 h4; do
  run "sshd-$name" nsenter --net --uts --target "${pid[$name]}" "$(command -v sshd)" -D \
    -f /dev/null -h "$PWD/ssh/host" -o "AuthorizedKeysFile=$PWD/ssh/user.pub" \
    -o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes -o PidFile=none \
    -o "SetEnv=PATH=$PATH" \
    -o "Subsystem=sftp internal-sftp"
done
PATH=$PWD/bin:$PATH
for name in h1 h2 h3 h4; do await "sshd on $name" ssh $name true; done

# The master of the page's one-liners, at boss:7000; every host has the keys.
boss() {
  [ -f net.json ] || make_data
  dl-keygen -q --worker all keys >/dev/null
  cp -r keys/hand-out/all /root/dl-keys
  master m --keys keys --epochs 3 --min-workers 3
}
bind='tcp://*:7000'
# by WHAT TEXT: three workers, started by the block with that text.
by() {
  boss
  block "$2" >"$1.sh"
  bash "$1.sh" >"$1.out" 2>"$1.err"
  echo "$1: status $?"
  finish m
  check m.safetensors.run
  field_of_events m.safetensors.run '{"event": "join"}' name | sed 's/[:-][0-9]*$//' | sort
  rm -r m.* keys /root/dl-keys
}
