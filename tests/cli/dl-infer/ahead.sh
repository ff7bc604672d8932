# Records are read ahead, but an answer waits for none, and neither does an end.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
infer() { dl-infer -q --device reference --threads 2 --model "$model" "$@"; }
pets 1 6 | dl-shard -q --batch 1 -o one-by-one
pets 1 6 >pets.dls
infer pets.dls >all
infer one-by-one-000.dls | cmp - all && echo "the same by ones"
cat one-by-one-000.dls pets.dls one-by-one-000.dls >joined.dls
infer joined.dls | cut -d, -f2- >twice
{ cat all all all; } | cut -d, -f2- | cmp - twice && echo "the same in a row"

echo '== a dialog: each is answered before the next one comes'
mkfifo ask answer
infer ask >answer &
exec 4<answer 3>ask
for i in 1 2 3; do
  pets $i $i >&3
  read -r line <&4 && echo "$line"
done
exec 3>&- 4<&-
wait $!
echo "status $?"

echo '== an end while the next record is still awaited'
size=$(stat -c %s one-by-one-000.dls)
try() { # how it ends when most of a stream is there and the rest never comes
  exec 3<>ask
  head -c $((size - 300)) one-by-one-000.dls >&3
  "$@"
  echo "status $?"
  exec 3>&-
}
full() { infer - <ask >/dev/full; }
killed() {
  dl-infer --device reference --model "$model" -o out - <ask &
  until [ -n "$(find . -name '*out*')" ]; do sleep 0.02; done
  kill -TERM $!
  wait $!
}
try full
try killed
find . -name '*out*'
