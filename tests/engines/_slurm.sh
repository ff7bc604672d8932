# shellcheck shell=bash
# A Slurm cluster of four hosts, w1 to w4, with a user's shared folder: this one.
# shellcheck source=tests/engines/_lib.sh
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need slurmctld slurmd srun sbatch munged
: "${limit:=240}"
patience=90
alone
# shellcheck source=tests/engines/_training.sh
. "$DL_TEST_ROOT/tests/engines/_training.sh"
hosts w1 w2 w3 w4

export SBATCH_OUTPUT=%x-%j.err  # which fail shows
export SLURM_CONF=$PWD/slurm/slurm.conf
slurm_up() {
  local name
  install -d -m 700 slurm slurm/state
  head -c 1024 /dev/urandom >slurm/key
  chmod 400 slurm/key
  cat >"$SLURM_CONF" <<C
ClusterName=dltest
SlurmctldHost=head(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is requeued starts again no sooner than a credential is void.
AuthInfo=socket=$PWD/slurm/munge.sock,cred_expire=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmctldPidFile=$PWD/slurm/ctld.pid
SlurmdPidFile=$PWD/slurm/%n.pid
SlurmdSpoolDir=$PWD/slurm/%n
StateSaveLocation=$PWD/slurm/state
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=5
SlurmdTimeout=8
JobRequeue=1
SchedulerParameters=sched_interval=2,sched_min_interval=100000,bf_interval=2
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
C
  for name in w1 w2 w3 w4; do
    install -d "slurm/$name"
    echo "NodeName=$name NodeAddr=$(awk -v n=$name '$2 == n {print $1}' hosts) CPUs=4 RealMemory=2000 State=UNKNOWN" >>"$SLURM_CONF"
  done
  echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$SLURM_CONF"
  run munged munged --foreground --force --socket="$PWD/slurm/munge.sock" \
    --key-file="$PWD/slurm/key" --pid-file="$PWD/slurm/munged.pid" \
    --log-file="$PWD/slurm/munged.log" --seed-file="$PWD/slurm/munged.seed"
  await "munge" test -S slurm/munge.sock
  run slurmctld slurmctld -D
  for name in w1 w2 w3 w4; do slurmd_up $name; done
  await "four idle nodes" four_idle
}
slurmd_up() { run "slurmd-$1" nsenter --net --uts --target "${pid[$1]}" slurmd -D; }
four_idle() { [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = 4 ]; }

# submit OPTION...: prints the number of the job.
submit() { sbatch --parsable "$@" || fail "sbatch"; }
state_of() { scontrol show job "$1" -o | grep -o 'JobState=[A-Z_]*' | cut -d= -f2; }
in_state() { state_of "$1" | grep -qxE "$2"; }
# ends JOB: waits for it and says how it went.
ends() {
  await "job $1 to end" in_state "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'
  state_of "$1"
}
slurm_up

# hosts_of RUN: those that workers joined from.
hosts_of() {
  field_of_events "$1.safetensors.run" '{"event": "join"}' name |
    sed 's/[:-][0-9]*$//' | sort | uniq -c | awk '{print "from " $2 ": " $1}'
}

# train JOB-OPTION... -- OPTION-OF-DL-MASTER...: two epochs of LeNet; sets $job.
train() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  job=$(submit "${options[@]}" "$cluster_examples/train.sbatch" --net lenet.json \
    --data 'train-*.dls' --eval-data 'test-*.dls' --epochs 2 --min-workers 4 "$@")
}
# shellcheck disable=SC2034  # for again
averaging=(--mode averaging --workers 4)
# shellcheck disable=SC2034
sharing=(--mode sharing)
nodes=(--nodes 4 --ntasks-per-node 1)

# The result that averaging must give whatever happens: calm.safetensors.
calm() {
  dl-master -q --net lenet.json --data 'train-*.dls' --eval-data 'test-*.dls' \
    --epochs 2 --mode averaging --local 4 --threads 1 -o calm.safetensors || fail "calm"
}
same_as_calm() { # RUN
  compare_tensors calm.safetensors "$1.safetensors" | awk '{print $2}' | sort | uniq -c |
    awk '{print $2 " tensors: " $1}'
}

starts_of() { # RUN: how often a master began
  grep -cE '"event":"(start|resume)"' "$1.safetensors.run/events.jsonl"
}

# power_cut HOST: its line is dead, then its processes.
power_cut() {
  local p space
  space=$(readlink "/proc/${pid[$1]}/ns/net")
  ip link set "$1" down
  {
    for p in /proc/[0-9]*; do
      [ "$p" = "/proc/${pid[$1]}" ] || [ "$(readlink "$p/ns/net")" != "$space" ] ||
        kill -KILL "${p#/proc/}"
    done
    wait "${pid["slurmd-$1"]}"
  } 2>/dev/null  # bash would report it
  unset "pid[slurmd-$1]"
}
power_on() { # HOST
  ip link set "$1" up
  on "$1" ip route replace default via 10.77.0.1
  slurmd_up "$1"
}

# again NAME MODE COMMAND...: a run in the middle of which the command is given the number
# of its job; what it came to when it ends.
again() { # NAME MODE COMMAND...
  local name=$1
  # shellcheck disable=SC2178  # a reference
  local -n options=$2
  shift 2
  train "${nodes[@]}" -- "${options[@]}" -o "$name.safetensors"
  midway "$name"
  "$@" "$job"
  ends "$job"
  echo "$name: $(starts_of "$name") starts"
  check "$name.safetensors.run"
  accuracy "$name"
  [[ "${options[*]}" != *averaging* ]] || same_as_calm "$name"
}
done_with() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
