#!/bin/bash
# A run directory, a link or a file in a folder that all may write to, made by
# another user: nothing is written there, and no setuid bit is taken over.
[ "$(id -u)" = 0 ] || { echo "needs root, to make files of another user" >&2; exit 77; }
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() {
  { dl-master -q --net net.json --data 'train-*.dls' --batch 8 --epochs 1 --local 1 "$@" >/dev/null; } 2>&1
  echo "status $?"
}
mkdir all own
chmod 1777 all
echo precious >target
echo "a run directory"
mkdir all/a.run
echo '{"settings":{},"network":{},"format":1}' >all/a.run/run.json
ln -s ../../target all/a.run/lock
chown -h -R 65534 all/a.run
try -o all/a
ls all/a.run
echo "a link to one"
ln -s ../own all/b.run
chown -h 65534 all/b.run
try -o all/b
ls own
echo "a link to an output, and to a link of one's own"
ln -s ../target all/c
chown -h 65534 all/c
ln -s all/c c
dl-preprocess csv --label 4 --classes a,b,c -o c <<<1,2,3,a
echo "status $?"
dl-keygen all/a.run
echo "status $?"
echo "the file of a lock"
mkdir d.run
: >d.run/lock
chown 65534 d.run/lock
try -o d --run d.run
echo "permissions"
: >all/e
chmod 6777 all/e
chown 65534:65534 all/e
dl-preprocess csv --label 4 --classes a,b,c -o all/e <<<1,2,3,a
stat -c '%u %a' all/e
cat target
