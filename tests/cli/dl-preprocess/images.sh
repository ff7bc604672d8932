# A folder of pictures becomes a stream that does not depend on the number of
# threads, and says how it was made.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
for i in 1 2 3 4 5; do
  picture "photos/ant/$i.png" $((10 + i)) 12 "$i"
  picture "photos/bee/$i.ppm" 12 $((9 + i)) "1$i"
  picture "photos/cat/deep/$i.bmp" 8 8 "2$i"
done
picture photos/bee/grey.pgm 20 30 7
cp photos/ant/1.png photos/bee/is-a-png.jpg
echo 'no picture' >photos/notes.txt
touch photos/.hidden

make() { dl-preprocess images --no-provenance photos "$@"; }
make --size 8x6 --batch 4 --threads 1 -o one.dls && echo "status $?"
for threads in 2 4; do
  make -q --size 8x6 --batch 4 --threads $threads -o more.dls && cmp one.dls more.dls &&
    echo "the same with $threads threads"
done
dl-shard --info --json one.dls | jq -c .classes
dl-shard --info one.dls | grep -vE '^(bytes|recipe)|^  '
dl-shard --head 99 --json one.dls | jq -r '[.id, .labels] | join(" ")'

echo '== the recipe'
make --size 8x6 --fit pad --color grey --print-recipe >recipe.json
jq -c '.tensors' recipe.json
make -q --size 8x6 --fit pad --color grey -o options.dls
dl-preprocess --recipe recipe.json --no-provenance -q photos -o file.dls
cmp options.dls file.dls && echo 'a recipe says what options say'
dl-shard --info --json file.dls | jq -c '.recipe.tensors.features'

echo '== archives and files'
tar -C photos -cf photos.tar ant bee cat
gzip -k photos.tar
rm photos/notes.txt photos/.hidden
make -q --size 8x6 -o folder.dls
for operand in photos.tar photos.tar.gz 'pipe:cat photos.tar' -; do
  dl-preprocess images -q --size 8x6 --no-provenance "$operand" <photos.tar -o tar.dls
  dl-shard --head 99 --json tar.dls | jq -c 'del(.index)' | sort >a
  dl-shard --head 99 --json folder.dls | jq -c 'del(.index)' | sort >b
  cmp a b && echo "$operand"
done
dl-preprocess images -q --size 8x6 --no-provenance photos/bee/*.p?m -o files.dls
dl-shard --head 99 --json files.dls | jq -r .id

echo '== parts'
make -q --size 8x6 --batch 3 -o whole.dls
for part in 1 2 3; do
  make -q --size 8x6 --batch 3 --part $part/3 -o part-$part.dls
  dl-shard --info --json part-$part.dls | jq -c '[.classes[].name]'
done
cat part-?.dls | dl-shard --head 99 --json | jq -r .id | sort >a
dl-shard --head 99 --json whole.dls | jq -r .id | sort | cmp a - && echo 'each picture once'
make --size 8x6 --part 4/3

echo '== classes by patterns'
mkdir flat
cp photos/ant/1.png flat/ant_1.png
cp photos/bee/1.ppm flat/bee_1.ppm

dl-preprocess images -q --size 8x6 --label-from name --label-pattern '^([a-z]+)_' flat -o flat.dls
dl-shard --head 9 --json flat.dls | jq -c '[.id, .labels]'
make --size 8x6 --label-pattern '(' -o out.dls
make --size 8x6 --label-pattern '^(ant|bee)/' -o out.dls

echo '== WebDataset'
mkdir web
cp photos/ant/1.png web/a.png && printf 3 >web/a.cls
cp photos/bee/1.ppm web/b.ppm && printf 0 >web/b.cls && echo '{}' >web/b.json
tar -C web -cf web.tar a.png a.cls b.cls b.json b.ppm
dl-preprocess images -q --size 8x6 --webdataset --classes 10 web.tar -o web.dls
dl-shard --head 9 --json web.dls | jq -c '[.id, .labels]'
tar -C web -cf web.tar a.png b.ppm b.cls
dl-preprocess images --size 8x6 --webdataset --classes 10 web.tar -o out.dls

echo '== a list of bad ones'
for i in 1 2 3; do : >"photos/cat/$i.png"; done
make -q --size 8x6 --max-bad 2 --bad-list bad -o out.dls 2>/dev/null
echo "status $?" && cat bad
make -q --size 8x6 --max-bad 3 --bad-list bad -o out.dls 2>/dev/null
echo "status $?" && wc -l <bad

echo '== labels in a table'
cat >labels.csv <<'EOF'
file,label,age,weight
ant_1.png,insect,3,0.5
bee_1.ppm,bee,7,1e-3
EOF
dl-preprocess images -q --size 8x6 flat --labels labels.csv -o t.dls
dl-shard --info --json t.dls | jq -c '[.classes[].name]'
dl-preprocess images -q --size 8x6 flat --labels labels.csv --regression --label-from age,weight -o t.dls
dl-shard --info --json t.dls | jq -c '[.targets, .schema.labels]'
dl-shard --head 2 --json t.dls | jq -c .labels
sed -i '3d; s/0.5/x/' labels.csv
dl-preprocess images --size 8x6 flat --labels labels.csv -o t.dls
dl-preprocess images --size 8x6 flat --labels labels.csv --regression --label-from weight -o t.dls
