# Files that are no pictures, and pictures that have no class, are told.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture photos/ant/1.ppm 8 8 1 && picture photos/bee/1.ppm 8 8 2
try() {
  dl-preprocess images --size 4x4 "$@" -o out.dls
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  rm -f out.dls
}
echo '== files that are passed over'
touch photos/ant/{2.heic,3.HEIC,4.avif} photos/notes.txt
try photos
try photos --json
mkdir none && touch none/a.heic && try none
try none --no-labels
echo '== a picture beside the folders of classes'
cp photos/ant/1.ppm photos/stray.ppm
try photos
try photos --max-bad 1
try photos --no-labels
try photos --label-pattern '([a-z]+)'
tar -C photos -cf photos.tar . && try photos.tar
(cd photos/bee && try 1.ppm)
echo '== a class without a name'
printf 'path,label\nant/1.ppm,\nbee/1.ppm,bee\nstray.ppm,bee\n' >labels.csv
try photos --labels labels.csv
echo '== a column of the table that each file has'
printf 'path,folder\nant/1.ppm,a\nbee/1.ppm,b\nstray.ppm,b\n' >labels.csv
try photos --labels labels.csv --label-from folder
echo '== patterns'
long=$(head -c 200 /dev/zero | tr '\0' a)
picture "photos/ant/$long!.ppm" 4 4 1
try photos --label-from name --label-pattern '((a+)+)+$' --max-bad 9
try photos --label-pattern '('
try photos --label-pattern '(?=x)'
echo '{"source": {"type": "files"}, "tensors": {"features": {"type": "image", "size": [4, 4]},
  "labels": {"type": "category", "pattern": "("}}}' >recipe.json
dl-preprocess --recipe recipe.json photos -o out.dls
echo "status $?"
printf '{"source": {"type": "files"}, "tensors": {"features/\\u001b[31m": {"type": "image", "size": [4, 4]}}}' >recipe.json
dl-preprocess --recipe recipe.json photos -o out.dls
echo "status $?"
echo '== outputs in the inputs'
dl-preprocess images --size 4x4 photos -o photos/ant/1.ppm
dl-preprocess images --size 4x4 photos -o photos/../photos/out
dl-preprocess images --size 4x4 photos --no-labels -o photos/new.dls && echo "beside them"
dl-preprocess images --size 4x4 photos --no-labels --bad-list photos/ant/bad.png -o out.dls
