"""dl-tools in Python and notebooks, dl-python(7).

Everything is computed by the tools, which run() starts as a shell would; the rest reads
and writes their files, with NumPy and the standard library alone.
"""

from dl_tools.models import Model, read_model
from dl_tools.pages import Page
from dl_tools.predict import Evaluation, evaluate, infer
from dl_tools.runs import Run, events
from dl_tools.shards import metadata, read_records, read_shard, write_shard
from dl_tools.tools import Result, ToolError, run

__version__ = "0.2.0"

__all__ = ["Evaluation", "Model", "Page", "Result", "Run", "ToolError", "evaluate", "events",
           "infer", "metadata", "read_model", "read_records", "read_shard", "run", "write_shard"]
