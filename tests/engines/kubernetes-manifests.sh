#!/bin/bash
# The manifests for Kubernetes, put together by kustomize, and the commands of
# dl-cluster(7) make what its schemas allow; kubectl is asked no cluster.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need kubectl
venv=${DL_ENGINES_VENV:-$DL_TEST_ROOT/.venv/engines}
if [ ! -x "$venv/bin/kubernetes-validate" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q kubernetes-validate; } >&2 ||
    skip "kubernetes-validate cannot be installed"
fi
# shellcheck source=tests/engines/_training.sh
. "$DL_TEST_ROOT/tests/engines/_training.sh"
cp -r "$cluster_examples/kubernetes" .
kubectl() {
  case $1 in
    create) command kubectl "$@" --dry-run=client -o yaml ;;
    apply) command kubectl kustomize "$3" ;;
  esac >>all.yaml
  echo --- >>all.yaml
}
block 'kubectl create secret' >commands.sh
# shellcheck disable=SC1091  # that
. ./commands.sh >/dev/null
"$venv/bin/kubernetes-validate" --strict -k 1.33 all.yaml 2>&1 | sed 's/.*passed for/valid:/'
for key in server.key:server.key all.pub:workers/all.pub; do
  grep "^  ${key%%:*}:" all.yaml | awk '{print $2}' | base64 -d |
    cmp - "keys/${key#*:}" && echo "${key%%:*}: the same"
done
# Names in the manifests that the tools know.
cmp "$examples/digits.json" kubernetes/network.json && echo "the network: the same"
dl-master --net kubernetes/network.json --dry-run | head -n 1
