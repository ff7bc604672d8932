# --split: each picture goes to one share, by its name, and stays there.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
for i in {10..49}; do picture "photos/p$((i / 4))/$i.ppm" 4 4 "$i"; done
images() { dl-preprocess images -q --size 4x4 --label-pattern '([0-9])\.ppm' "$@"; }
ids() { dl-shard --head 99 --json "$@" | jq -r .id; }
images photos --split train=0.75,test=0.25 --json -o photos.dls | jq -c '[.examples, .shares]'
ids photos-test.dls
cat <(ids photos-train.dls) <(ids photos-test.dls) | sort | uniq -c | awk '$1 != 1' | wc -l
for share in train test; do dl-shard --info --json photos-$share.dls | jq -c '[.classes[].name]'; done
echo '== with others beside'
ids photos-test.dls >before
for i in {50..69}; do picture "photos/p$((i / 4))/$i.ppm" 4 4 "$i"; done
images photos --split train=0.75,test=0.25 -o photos.dls
ids photos-test.dls | comm -13 - before | wc -l
echo '== groups'
images photos --split train=0.6,valid=0.2,test=0.2 --group '^(p[0-9]+)/' -o photos
for share in train valid test; do ids photos-$share | sed 's,/.*,,' | sort -u; done | sort | uniq -d | wc -l
images photos --split train=0.6,test=0.4 --group '^(q[0-9]+)/' -o no.dls
echo "status $?"
echo '== the same from an archive'
tar -C photos -cf photos.tar .
images photos.tar --split train=0.75,test=0.25 -o tar.dls
ids tar-test.dls | sort | cmp - <(ids photos-test.dls | sort) && echo 'the same'
echo '== what does not go'
for split in train=1 train=0.5,test=0.4 train=0.5,train=0.5 train=1,test=0 train,test 'a/b=0.5,c=0.5'; do
  images photos --split "$split" -o no.dls
done
images photos --split a=0.5,b=0.5
images photos --group x -o no.dls
images --split a=0.5,b=0.5 -o no.dls - <photos.tar
images photos --split a=0.5,b=0.5 --group '(' -o no.dls
echo '== none, where one fails'
: >photos/p9/0.ppm
images photos --split train=0.75,test=0.25 -o no.dls
echo "status $?, $(ls no* 2>/dev/null || echo nothing written)"
