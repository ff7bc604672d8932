# Archives that are empty, sparse or of old programs, and examples of WebDataset.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture photos/a/1.ppm 8 8 1 && picture photos/b/1.ppm 8 8 2
try() {
  dl-preprocess images --size 4x4 --batch 1 "$@" -o out.dls
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  [ ! -e out.dls ] || dl-shard --head 9 --json out.dls | jq -c '[.id, .labels]'
  rm -f out.dls
}
echo '== empty'
tar -cf empty.tar -T /dev/null && try empty.tar
gzip -k empty.tar && try empty.tar.gz
try - <empty.tar
: >none.tar && try none.tar
mkdir folder && tar -cf folder.tar folder && try folder.tar
(cat empty.tar && echo more) >more.tar && try more.tar
echo '== formats'
for format in v7 oldgnu gnu ustar posix; do tar --format=$format -C photos -cf all.tar a b && try all.tar; done
echo '== sparse'
truncate -s 100K photos/b/2.ppm
tar -S --format=gnu -C photos -cf sparse.tar a b && try sparse.tar
for version in 0.0 0.1 1.0; do
  tar -S --format=posix --sparse-version=$version -C photos -cf sparse.tar a b && try sparse.tar
done
try sparse.tar --max-bad 1
echo '== WebDataset'
web() { # OPTION...: of the folder web
  tar -C web --sort=name -cf web.tar . && try --webdataset web.tar "$@"
}
mkdir web && printf 'P4 8 2 \252\125' >web/a.pbm && cp photos/a/1.ppm web/b.PNM && cp photos/b/1.ppm web/c.Jpg
for i in a b; do echo "class $i" >web/$i.cls; done && echo 'class a' >web/c.CLS
web
echo '{"label": "x", "box": {"width": 3}}' >web/a.json
echo '{"label": "y", "box": {"width": 4.5}}' >web/b.json
echo '{"label": "x", "box": {"width": null}}' >web/c.json
web --label-from json.label
web --label-from json.label --label-pattern '(.)'
web --regression --label-from json.box.width --max-bad 1
web --label-from json.title
echo '{"label": ' >web/b.json && web --label-from json.label
web
printf 'x\0y' >web/b.cls && web
printf '\377' >web/b.cls && web
echo '== the first header damaged, a packed archive cut short'
tar -C photos --sort=name -cf sum.tar . && printf X | dd of=sum.tar bs=1 seek=3 conv=notrunc status=none && try sum.tar
tar -C photos --sort=name -czf whole.tgz . && head -c 100 whole.tgz >cut.tgz && try cut.tgz
