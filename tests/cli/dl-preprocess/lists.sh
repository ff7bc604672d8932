# Lists of inputs in files and on standard input, and commands that are started
# again.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
for i in 1 2 3; do picture "photos/ant/$i.ppm" 8 8 "$i" && picture "photos/bee/$i.ppm" 8 8 "1$i"; done
images() { dl-preprocess images -q --size 4x4 --no-provenance "$@"; }
ids() { dl-shard --head 99 --json "$@" | jq -r .id; }

echo '== lists'
printf 'photos/bee/2.ppm\r\n\nphotos/ant/1.ppm\n' >names
images --list names -o a.dls && ids a.dls
find photos -name '1.ppm' -print0 | LC_ALL=C sort -z | images -0 -o a.dls && ids a.dls
find photos -type f | LC_ALL=C sort | images --list - -o a.dls
images photos/*/* -o b.dls && cmp a.dls b.dls && echo 'as on the command line'
echo photos | images --list - -o a.dls && images photos -o b.dls && cmp a.dls b.dls && echo 'folders'
printf 'photos/bee/2.ppm\nphotos/bee/9.ppm\n' >names
images --list names -o a.dls
echo "status $?"
images --list names --max-bad 1 -o a.dls && ids a.dls
tar -cf photos.tar photos
images --list names --max-bad 1 'pipe:cat photos.tar' -o a.dls && ids a.dls | wc -l
echo 'pipe:echo run >ran' | images --list - -o a.dls
echo "status $?, $(ls ran 2>&1)"
images --list missing -o a.dls
echo "status $?"
head -c 5000 /dev/zero | tr '\0' x | images --list - -o a.dls
echo "status $?"

echo '== commands that fail'
# Fails as often as the file tries says, after 3000 bytes and its argument.
cat >flaky.sh <<'END'
tries=$(cat tries)
echo $((tries - 1)) >tries
if [ "$tries" -gt 0 ]; then
  head -c 3000 photos.tar
  printf '%s' "$1"
  exit 3
fi
cat photos.tar
END
again() { # TIMES ARGUMENT OPTION...
  echo "$1" >tries
  images "pipe:sh flaky.sh '$2'" "${@:3}" -o c.dls
  echo "status $?"
}
images photos.tar -o a.dls
again 1 ''
again 1 '' --retries 1 && cmp a.dls c.dls && echo 'the same'
again 2 '' --retries 1
again 1 'other bytes' --retries 1

echo '== lists of data'
cat >net.json <<'END'
{"input": {"shape": [4, 4, 3]}, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
END
dl-shard -q a.dls -n 2 -o train
printf '# all\ntrain-000.dls\n\ntrain-001.dls\n' >shards
dl-master -q --net net.json --data-list shards --local 1 --batch 2 -o list.safetensors --json | jq .examples
echo 'train-*.dls' | dl-infer -q --model list.safetensors --data-list - | wc -l
dl-eval -q --model list.safetensors --data-list shards --json | jq -c '[.. | .examples? // empty][0]'
echo 'pipe:cat train-000.dls' >shards
dl-eval -q --model list.safetensors --data-list shards
echo "status $?"
: >shards
dl-infer -q --model list.safetensors --data-list shards
echo "status $?"
