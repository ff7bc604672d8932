#!/bin/bash
# The manifests for Kubernetes, as processes that have what it gives a pod: a host name
# and an address that is new each time, the user, the variables, the secret's files, a
# root that is read-only; SIGTERM, and SIGKILL after the grace period; a new pod of the
# same index for one that ended with what is worth it.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need kubectl setpriv
python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
limit=240
patience=60
alone
case $(command -v dl-worker) in
  /tmp/*) skip "pods have a /tmp of their own, and dl-worker is there" ;;
esac
. "$DL_TEST_ROOT/tests/engines/_training.sh"
kubectl kustomize "$cluster_examples/kubernetes" >all.yaml || fail "kustomize"
switch

# The volume, which the pod's group may write, and the secret.
mkdir -m 2775 dl-run dl-run/data
dl-preprocess csv --label -1 --classes 10 --shape 8,8,1 --dtype u8 \
  "$examples/digits.csv.gz" | dl-shard -q --shuffle --batch 16 -n 4 -o dl-run/data/train
dl-keygen -q keys --worker all >/dev/null
mkdir secret
cp keys/server.key keys/server.pub keys/workers/all.pub keys/hand-out/all/worker.key secret
chown -R root:10001 dl-run secret
chmod 440 secret/*

declare -A pod=() job_of=() index_of=()
started=0
# Root folder as the pod's process sees it; $1 is the folder for its root.
root_of() {
  local root=$1 pair target key
  mount -t tmpfs tmpfs "$root"
  mkdir "$root/up" "$root/work" "$root/root"
  mount -t overlay overlay "$root/root" \
    -o "lowerdir=/,upperdir=$root/up,workdir=$root/work" || return
  for pair in "${claims[@]}" "${configs[@]}"; do mkdir -p "$root/root${pair#* }"; done
  for pair in "${secrets[@]}"; do
    key=${pair% *} target=$root/root${pair#* }
    # As links, which is how a new version gets in.
    mkdir -p "${target%/*}" "${target%/*}/..data"
    cp -p "secret/$key" "${target%/*}/..data/$key"
    ln -s "..data/$key" "$target"
  done
  for pair in "${configs[@]}"; do cp "${pair% *}" "$root/root${pair#* }"; done
  mount -o remount,bind,ro "$root/root"
  for pair in "${claims[@]}"; do mount --bind "${pair% *}" "$root/root${pair#* }"; done
  for pair in "${empty[@]}"; do mount -t tmpfs -o mode=1777 tmpfs "$root/root$pair"; done
  mount --bind hosts "$root/root/etc/hosts"
  mount -t proc proc "$root/root/proc"
  mount --rbind /dev "$root/root/dev"
}
start() { # JOB INDEX
  local name=$1-$2 host address variables
  local command environment secrets claims configs empty fatal user group grace
  local subdomain indexed
  eval "$("$DL_TEST_ROOT/tests/engines/pod.py" all.yaml "$1")"
  started=$((started + 1))
  host=pod$started address=10.77.1.$started
  host $host "$address" "$name"
  # Names are looked up where the newest pod is.
  sed "/ $name$/d; / $1$/d" hosts >hosts.new
  if [ "$indexed" = 1 ]; then
    echo "$address $name.$subdomain $name" >>hosts.new
    environment+=("JOB_COMPLETION_INDEX=$2")
  else
    echo "$address $1" >>hosts.new
  fi
  cat hosts.new >hosts
  variables=(HOME=/ "HOSTNAME=$name" "PATH=${bin:=$(dirname "$(command -v dl-worker)")}:/usr/bin:/bin"
    DL_FAILPOINTS=worker.after_batch=sleep:100ms "${environment[@]}" "${extra[@]}")
  mkdir "root-$started"
  (
    # nsenter takes a program, and these are functions.
    export -f root_of
    declare -p claims configs secrets empty >"spec-$started"
    # shellcheck disable=SC2016  # for the shell in there
    exec nsenter --net --uts --target "${pid[$host]}" unshare --mount bash -c '
      . "./spec-$1" && root_of "root-$1" || exit 70
      root=$PWD/root-$1/root; shift
      exec chroot "$root" setpriv --reuid '"$user"' --regid '"$user"' --groups '"$group"' \
        --no-new-privs --bounding-set=-all env -i --chdir=/ "$@"' \
      - "$started" "${variables[@]}" "${command[@]}"
  ) >"$name.out" 2>>"$name.err" </dev/null &
  pod[$name]=$! pid[pod-$name]=$! job_of[$name]=$1 index_of[$name]=$2
  fatal_of[$1]=" ${fatal[*]} " grace_of[$1]=$grace
}
declare -A fatal_of=() grace_of=()
extra=()
# Does the work of the job controller; the statuses that pods ended with are in $ended.
control() { steer "$@" 2>/dev/null; }  # bash would report who was killed
steer() {
  local name status
  while [ ${#pod[@]} -gt 0 ]; do
    for name in "${!pod[@]}"; do
      if kill -0 "${pod[$name]}" 2>/dev/null; then continue; fi
      { wait "${pod[$name]}"; } 2>/dev/null
      status=$?
      unset "pod[$name]"
      echo "$name $status" >>ended
      case ${fatal_of[${job_of[$name]}]} in
        *" $status "*)
          echo "job ${job_of[$name]} failed: $name ended with $status"
          return ;;
      esac
      [ $status = 0 ] || start "${job_of[$name]}" "${index_of[$name]}"
    done
    [ -z "${1:-}" ] || ! "$@" || return 0
    sleep 0.05
  done
}
evict() { # NAME: SIGTERM, and SIGKILL after the grace period
  local i
  [ -n "${pod[$1]:-}" ] || fail "$1 is not there: $(cat ended)"
  kill -TERM "${pod[$1]}"
  for ((i = 0; i < ${grace_of[${job_of[$1]}]} * 20; ++i)); do
    kill -0 "${pod[$1]}" 2>/dev/null || return 0
    sleep 0.05
  done
  fail "$1 outlived its grace period"
}
joined() { # COUNT: so often workers did
  [ "$(grep -cE '"event":"(join|return)"' dl-run/model.safetensors.run/events.jsonl)" -ge "$1" ]
}
at_work() { committed dl-run/model.safetensors.run 20; }

start dl-master 0
for index in 0 1 2 3; do start dl-worker $index; done
control at_work
evict dl-worker-2
kill -KILL "${pod[dl-worker-1]}"
control joined 6
evict dl-master-0
control joined 10
control
sort ended | uniq -c | awk '$3 != 0 {print $2 " ended with " $3}' | sort -u
echo "$(grep -c ' 0$' ended) pods ended well"
check dl-run/model.safetensors.run
field_of_events dl-run/model.safetensors.run '{"event": "join"}' name |
  sed 's/[:-][0-9]*$//' | sort | uniq -c | awk '{print $2 " joined: " $1}'

# A status that a restart would not mend fails the job.
extra=(DL_MASTER_EPOCHS=none)
start dl-master 0
control
