"""Models and checkpoints, dl-model(5), as arrays."""

import json
import mmap

from dl_tools import blobs
from dl_tools.pages import Page


class Model(dict):
    """Parameters by name, "LAYER/weight"; .network, .classes and .metadata beside them."""

    path = None
    metadata = {}

    @property
    def network(self):
        return json.loads(self.metadata["network"])

    @property
    def classes(self):
        return json.loads(self.metadata.get("data.classes", "null"))

    def page(self):
        """Diagram, histograms and filters, by dl-plot."""
        return Page.of(self.path)

    def _repr_html_(self):
        return self.page()._repr_html_()

    def __repr__(self):
        return f"<model '{self.path}': {len(self)} tensors, {sum(t.size for t in self.values())} numbers>"


def read_model(path):
    """The tensors of a model, which stay in the file until they are read."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        metadata, tensors, _ = blobs.parse(data)
    except (ValueError, KeyError) as error:
        raise ValueError(f"'{path}' is no model: {error}") from None
    if metadata.get("format") != "dl-model":
        raise ValueError(f"'{path}' is no model of dl-tools")
    model = Model(tensors)
    model.path, model.metadata = path, metadata
    return model
