. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page_ends # nothing yet
mnist . 96 1
mv train-images-idx3-ubyte.gz train-images.gz
mv train-labels-idx1-ubyte.gz train-labels.gz
animals iris.csv
cifar() { # FILE
  awk 'BEGIN { for (i = 0; i < 64; ++i) printf "%c%3072s", i % 10 + 48, i }' |
    tr '0-9' '\000-\011' >"$1"
}
cifar data_batch_1.bin
make-dataset 60 10 1 >data.dls

. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture photos/cats/1.png 30 20 1
picture photos/dogs/1.ppm 20 30 2
help_of dl-preprocess
run_next 'dl-preprocess images'
run_next 'dl-preprocess idx'
run_next 'dl-preprocess table'
run_next 'dl-preprocess csv'
run_next 'dl-preprocess cifar'
page_ends

help_of dl-shard
run_next '--shuffle'
run_next '--split'
run_next '--folds'
for side in a b c; do cp data.dls $side.dls; done
run_next '--zip'
run_next '--verify'
page_ends

rm train-*.dls
lenet_data
help_of dl-master
run_next '--local 2'
skip_next '--hosts' 'other hosts'
skip_next '--master-file m.json' 'four workers'
page_ends

help_of dl-worker
skip_next 'tcp://boss' 'other hosts'
skip_next 'srun' 'a Slurm cluster'
page_ends

small_model m.safetensors
cp animals.dls test.dls
help_of dl-eval
run_next 'test-*.dls'
run_next '--evaluate roc'
dl-eval --model m.safetensors --json test.dls >host1.json
cp host1.json host2.json
run_next '--merge'
for fold in 1 2; do cp host1.json cross-fold$fold.json; done
run_next '--spread'
page_ends

cp lenet.safetensors m.safetensors
cp test-000.dls new.dls
cp test-000.dls new-1.dls
help_of dl-infer
run_next 'new.dls >predictions.jsonl'
skip_next '--raw' 'no model of pictures'
run_next '--top 3'
run_next '--format dls'
page_ends

golden=$DL_TEST_ROOT/tests/golden/keras
cp "$golden/words.json" model.json
cp "$golden/words.weights.h5" model.weights.h5
help_of dl-import
skip_next 'resnet50.keras -o' 'no such model'
run_next '-o network.json'
run_next '--weights'
skip_next '--shape 100,64' 'no such model'
skip_next 'lenet.zip --shape' 'no such model'
skip_next '--check recorded.npz' 'no such model'
skip_next 'resnet18.onnx' 'no such model'
skip_next '--datavec transform.json' 'no such transform process'
skip_next '--map -' 'no such state dict'
skip_next '--map map.json' 'no such state dict'
page_ends

dl-import -q model.json --weights model.weights.h5 -o chars.safetensors
help_of dl-export
run_next '-o lenet.onnx'
run_next '-o lenet.svg'
run_next '--masks always'
skip_next '--format onnx' 'another host'
page_ends

help_of dl-keygen
run_next '--worker gpu1'
skip_next 'scp' 'other hosts'
skip_next 'tcp://boss' 'other hosts'
skip_next '--once g7' 'other hosts'
page_ends

cp -r lenet.safetensors.run a.run
cp -r lenet.safetensors.run b.run
dl-eval --model lenet.safetensors --json 'test-*.dls' >report.json
help_of dl-plot
run_next 'lenet.html'
run_next 'both.html'
skip_next '--serve 8080' 'it serves without end'
run_next 'report.html'
run_next 'model.html'
page_ends
