# --replay of a folder that is not there, or is no run.
dl-master --replay nodir --list
echo "status $?"
dl-master --replay nodir -o m.safetensors
echo "status $?"
mkdir empty
dl-master --replay empty --list
echo "status $?"
