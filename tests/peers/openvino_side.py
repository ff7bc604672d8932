"""OpenVINO's side, predictions only, of the model that ONNX Runtime has: see
peer_step.cpp for the conversation.  The data are in memory as normalised
float32."""

import openvino

import onnx_network
from files import channels_first, read_batches, read_model
from serve import arguments, serve


def main():
    args = arguments()
    network, normalizer, tensors = read_model(args.model)
    batches = [channels_first(x)
               for x, _ in read_batches(args.data, args.batch, normalizer)]
    core = openvino.Core()
    model = core.read_model(onnx_network.build(network, tensors))
    model.reshape(list(batches[0].shape))
    request = core.compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": args.threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()

    def step(i):
        request.infer([batches[i % len(batches)]], share_inputs=True)
        return request.get_output_tensor(0).data
    serve(step, lambda outputs: outputs[0].tolist())


main()
