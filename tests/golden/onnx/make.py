"""Writes the files of this folder: small networks with random weights, as PyTorch
exports them to ONNX, with and without dynamo, a state dict, and what ONNX Runtime says
of some inputs.  usage: make.py FOLDER"""

import pathlib
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from safetensors.torch import save_file
from torch import nn

warnings.filterwarnings("ignore")
folder = pathlib.Path(sys.argv[1])
torch.manual_seed(4)


class Image(nn.Module):
    """Convolutions with a branch, groups, a padded pool and a flatten."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 4, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.depth = nn.Conv2d(4, 4, 3, 1, 1, groups=4)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.fc = nn.Linear(36, 3)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = self.pool(x + nn.functional.hardswish(self.depth(x)))
        return torch.softmax(self.fc(x.flatten(1)), 1)


class Words(nn.Module):
    """An embedding, attention and a table of positions."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 8)
        self.positions = nn.Parameter(torch.randn(5, 8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = self.embedding(x) + self.positions
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        return self.fc(nn.functional.gelu(x)).mean(1)


class Steps(nn.Module):
    """Recurrent layers, the last step and the last state."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(8, 4, batch_first=True)

    def forward(self, x):
        y, state = self.gru(self.lstm(x)[0])
        return y[:, -1] + 2 * state[0]


def without_traces(path):
    """PyTorch notes at each node where in which files it was made."""
    model = onnx.load(path)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output,
                  *model.graph.initializer]:
        del value.metadata_props[:]
    onnx.save(model, path)


def write(name, model, x, dynamo):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 1.5)
    model.eval()
    path = folder / f"{name}.onnx"
    if dynamo:
        torch.onnx.export(model, (x,), str(path), input_names=["input"], output_names=["output"], dynamo=True,
                          dynamic_shapes=({0: torch.export.Dim("batch")},), external_data=False, verbose=False)
    else:
        torch.onnx.export(model, (x,), str(path), input_names=["input"], output_names=["output"], dynamo=False,
                          opset_version=17, dynamic_axes={"input": {0: "batch"}},
                          training=torch.onnx.TrainingMode.PRESERVE)
    without_traces(path)
    session = onnxruntime.InferenceSession(str(path))
    np.savez(folder / f"{name}.npz", x=x.numpy(), y=session.run(None, {"input": x.numpy()})[0])
    return model


image = write("image", Image(), torch.randn(3, 2, 12, 12), False)
save_file(image.state_dict(), folder / "image.safetensors")
write("words", Words(), torch.randint(0, 9, (3, 5)), False)
write("words-dynamo", Words(), torch.randint(0, 9, (3, 5)), True)
write("steps", Steps(), torch.randn(3, 6, 3), False)
