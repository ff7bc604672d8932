"""ONNX Runtime's side, predictions only: see peer_step.cpp for the
conversation.  The data are in memory as normalized float32."""

import onnxruntime

import onnx_network
from files import channels_first, read_batches, read_model
from serve import arguments, serve


def main():
    args = arguments()
    network, normalizer, tensors = read_model(args.model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx_network.build(network, tensors), options,
                                           providers=["CPUExecutionProvider"])
    batches = [channels_first(x)
               for x, _ in read_batches(args.data, args.batch, normalizer)]

    def step(i):
        return session.run(None, {"input": batches[i % len(batches)]})[0]
    serve(step, lambda outputs: outputs[0].tolist())


main()
