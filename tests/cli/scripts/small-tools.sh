#!/bin/sh
# dl-shard, dl-preprocess and dl-keygen start without the libraries of mathematics and of
# models: their threads and time are for others.
for tool in dl-shard dl-preprocess dl-keygen; do
  ldd "$(command -v $tool)" | grep -oE 'lib(openblas|dnnl|gomp|hdf5|onnx|protobuf|zip)[-._a-z]*' |
    sed "s/^/$tool: /"
done
