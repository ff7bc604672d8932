#!/bin/bash
# 200 times, at random places, a connection between a worker and the master is
# reset, delayed, replayed or goes dead.  No example is lost or counts twice, and
# the models of the synchronous modes are those of calm runs: of --staleness 0 as
# long as nobody is missed for so long that others get its work.
limit=1800
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
faults=${SOAK_FAULTS:-200}
seed=${SOAK_SEED:-1}
declare -A how=(
  [sharing]='--mode sharing'
  [synchronous]='--mode sharing --staleness 0'
  [averaging]='--mode averaging --workers 3')
for mode in "${!how[@]}"; do
  # shellcheck disable=SC2086  # words
  {
    master "$mode" --epochs 3 --min-workers 3 ${how[$mode]}
    some_workers "$mode" "$mode" 3
    for part in "$mode" "$mode"-{1,2,3}; do finish "$part" >/dev/null; done
  }
done
for ((done = 0; done < faults; )); do
  for mode in "${!how[@]}"; do
    few=18
    case $((seed % 5)) in
      0) kinds='cut halve' few=3 ;;  # which take seconds to be missed
      1 | 2) kinds=reset ;;
      *) kinds='reset delay duplicate' ;;
    esac
    # shellcheck disable=SC2086  # words
    through_proxy "$mode-$seed" "$seed" $few "$kinds" 3 ${how[$mode]} >checked
    ! grep ': status [^0]' checked || fail "a status with seed $seed"
    grep 'epochs of' checked >>histories
    [ "$mode" = sharing ] || [ "$mode$few" = synchronous3 ] ||
      cmp "$mode-$seed.safetensors" "$mode.safetensors" ||
      fail "the models of $mode with seed $seed differ"
    rm -r "$mode-$seed".* "$mode-$seed"-*
    seed=$((seed + 1)) done=$((done + few))
  done
done
echo "$done faults: $(sort -u histories)"
