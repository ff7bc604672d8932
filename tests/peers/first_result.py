"""first_result.py torch|onnx MODEL SHARD: a prediction for each example of a
shard, as dl-infer prints; for the time from process start to first result."""

import sys


def main():
    kind, path, shard = sys.argv[1:]
    from files import channels_first, read_batches, read_model
    network, normalizer, tensors = read_model(path)
    examples = [channels_first(x) for x, _ in read_batches(shard, 1, normalizer)]
    if kind == "torch":
        import torch
        import torch_network
        torch.set_num_threads(1)
        model, _ = torch_network.build(network, tensors)
        model.eval()
        with torch.inference_mode():
            for x in examples:
                print(int(model(torch.from_numpy(x)).argmax()))
    else:
        import onnxruntime
        import onnx_network
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(onnx_network.build(network, tensors), options,
                                               providers=["CPUExecutionProvider"])
        for x in examples:
            print(int(session.run(None, {"input": x})[0].argmax()))


main()
