#!/bin/bash
# The whole pipeline on file systems of several kinds: tmpfs, an overlay, FUSE (bindfs),
# and another host's by sshfs and by GlusterFS.  On each, shards are written and written
# over, a master is killed and goes on, and another one is refused meanwhile, with GlusterFS
# on another host; on one that renames nothing, nothing appears.
limit=240
. "$DL_TEST_ROOT/tests/engines/_ssh.sh"
need sshfs bindfs fusermount3 glusterfsd glusterfs
make_data
place=$PWD
train() { # NAME OPTION...
  local name=$1
  shift
  run "$name" dl-master --net net.json --data 'train-*.dls' --batch 10 --epochs 3 --local 2 \
    -o m.safetensors "$@"
}
on_storage() { # NAME [--elsewhere FOLDER] [OPTION...]; FOLDER: where another host has it
  local name=$1 elsewhere=.
  shift
  [ "${1:-}" != --elsewhere ] || { elsewhere=$2; shift 2; }
  cd "$place/$name" || fail "no $name"
  make-dataset 400 20 1 | dl-shard -q -n 4 -o train || fail "$name: dl-shard"
  make-dataset 400 20 1 | dl-shard -q --force -n 4 -o train || fail "$name: --force"
  cp "$place/net.json" .
  DL_FAILPOINTS=worker.after_batch=sleep:500ms train first "$@"
  await "a commit" committed m.safetensors.run 4
  cd "$elsewhere" || fail "no $elsewhere"
  train second "$@"
  finish second
  grep -o 'is in use by' second.err
  kill -KILL "${pid[first]}"
  finish first
  train again "$@"
  finish again
  check m.safetensors.run
  dl-infer --model m.safetensors 'train-*.dls' | wc -l
  find . -name '.*.tmp'
  cd "$place" || exit
}


mkdir tmpfs overlay lower upper lower/files bindfs source sshfs far deny brick here there
mount -t tmpfs tmpfs tmpfs
mount -t tmpfs tmpfs upper
mkdir upper/up upper/work
mount -t overlay overlay overlay -o lowerdir=lower,upperdir=upper/up,workdir=upper/work
run bindfs-mount bindfs -f source bindfs
run sshfs-mount sshfs -f -F "$PWD/ssh/config" "h1:$PWD/far" sshfs
run deny-mount bindfs -f --rename-deny source deny
for name in bindfs sshfs deny; do await "$name" mountpoint -q $name; done
for name in tmpfs overlay bindfs; do
  echo "on $name:"
  on_storage $name
done
echo "on sshfs, which has no sockets:"
(cd sshfs && run socket dl-master --net ../net.json --data '../train-*.dls' --local 1 \
  -o m.safetensors && finish socket && grep -o '; where .*' socket.err)
rm -r sshfs/*
on_storage sshfs --bind tcp://127.0.0.1:0

# gluster NAME PROGRAM [OPTION...]
gluster() {
  local name=$1 program=$2
  shift 2
  run "$name" "$program" --no-daemon --volfile="$program.vol" --log-file=/dev/stderr "$@"
}
cat >glusterfsd.vol <<END
volume brick
  type storage/posix
  option directory $PWD/brick
end-volume
volume locks
  type features/locks
  subvolumes brick
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.listen-port 24007
  option auth.addr.locks.allow *
  subvolumes locks
end-volume
END
cat >glusterfs.vol <<END
volume client
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port 24007
  option remote-subvolume locks
end-volume
END
gluster brick glusterfsd
for name in here there; do
  gluster "$name-mount" glusterfs "$name"
  await "$name" mountpoint -q "$name"
done
echo "on GlusterFS, mounted twice:"
on_storage here --elsewhere "$place/there"

echo "without rename:"
rm -rf source/*
cd deny || exit
make-dataset 400 20 1 | dl-shard -n 4 -o train 2>said
echo "dl-shard: status $?: $(cat said)"
find . -name "*.dls*"
