#!/bin/sh
# A device that is not there is told before a master is looked for.
export DL_WORKER_THREADS=1  # the cores of this host differ
dl-worker --master "ipc://$PWD/none" --device tpu
echo $?
dl-worker --master "ipc://$PWD/none" --device cuda:99 2>said
echo $?
wc -l <said
# ... and so is a precision that it does not train in.
dl-worker --master "ipc://$PWD/none" --precision bfloat16
echo $?
dl-worker --master "ipc://$PWD/none" --precision half
echo $?
# auto says that it takes the cpu, and warns where a GPU may be there after all.
worker() { dl-worker --master "ipc://$PWD/none" --wait 0.1s --device auto "$@" 2>&1 | grep auto; }
echo none >broken.so
DL_CUDA_PLUGIN=$PWD/broken.so worker -q | sed "s,/.*/,,"
DL_CUDA_PLUGIN=$PWD/absent.so worker -q | sed "s,/.*/,,"
head -c 100000 "$(command -v dl-worker)" >cut.so
DL_CUDA_PLUGIN=cut.so worker -q | sed 's,/.*/,,'
mkfifo pipe.so
DL_CUDA_PLUGIN=pipe.so worker -q | sed 's,/.*/,,'
data=$(dirname "$(command -v dl-worker)")/libdata_plugin.so
DL_CUDA_PLUGIN=$data worker -q | sed 's,/.*/,,'
DL_CUDA_PLUGIN=$data dl-worker --master "ipc://$PWD/none" --device cuda 2>&1 | sed 's,/.*/,,'
DL_CUDA_PLUGIN=$data dl-worker --version >/dev/null || echo "no version"
cat >net.json <<'END'
{"input": {"shape": [2]}, "layers": [
  {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
printf '1,2,a\n2,1,b\n' | dl-preprocess csv --label 3 -o x.dls
dl-master -q --net net.json --data x.dls --batch 2 --mode averaging --local 1 -o m.safetensors
infer() { dl-infer --model m.safetensors "$@" x.dls 2>&1 >/dev/null | grep -E 'auto|computes|precision'; }
infer -v
DL_CUDA_PLUGIN=$PWD/broken.so infer --device auto | sed "s,/.*/,,"
infer --device reference -v
infer --device reference --precision tf32
dl-infer --version | grep reference
[ ! -e /dev/nvidia0 ] || { printf '1\n1\n1\n'; exit 0; }
# Said alike of one and of all; set and empty is as unset.
for device in cuda cuda:all; do
  dl-infer --model m.safetensors --device $device x.dls 2>&1 |
    grep -cx "dl-infer: no cuda device: there is no driver of NVIDIA's; --device cpu or auto computes without"
done
DL_CUDA_PLUGIN='' dl-worker --master "ipc://$PWD/none" --wait 0.1s --device auto 2>&1 | grep -c 'auto: cpu (there is no driver'
