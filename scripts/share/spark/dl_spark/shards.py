"""Writes the partitions of a DataFrame or RDD as shards, each by
`dl-preprocess raw | dl-shard` on the executor that has it.

A task writes under a name of its own and links its shard to the name that the
partition gives it, once: a task that is retried or runs twice does no harm.
"""

import glob
import os
import uuid

from dl_spark import model as models
from dl_spark import arguments, partitions, tools
from dl_spark.columns import columns_of
from dl_spark.failures import only_failures
from dl_spark.tools import Failure, Pipeline


@only_failures
def write_shards(data, directory, network, *, columns=None,
                 tools_folder=None, **how):
    """Writes DIRECTORY/part-NNNNN-000.dls, one for each partition that has rows.

    data: a DataFrame, or an RDD of (features, label).
    directory: absolute path of a new folder on storage that all hosts see.
    network: file with the network, which says what an example is.
    how: features=, label=, shape=, classes=, regression=, see Columns.
    Returns (pattern of the files, examples, columns).  Raises Failure.
    """
    partitions.context_of(data)
    directory = tools.shared_folder(directory)
    network = arguments.path("network", network)
    columns = (columns or columns_of(how)).of_network(models.read_network(network))
    data, columns = partitions.prepare(data, columns, labelled=True)
    try:
        os.makedirs(directory)
    except FileExistsError:
        raise Failure(f"'{directory}' exists already: name a new folder, or remove "
                      "it", 73) from None
    except OSError as error:
        raise Failure(f"cannot create '{directory}': {error.strerror}", 73) from None
    try:
        examples = _written(data, directory, columns, tools_folder)
    except BaseException:
        tools.remove(directory)  # so that the same call may be made again
        raise
    return os.path.join(glob.escape(directory), "part-*.dls"), examples, columns


def _written(data, directory, columns, tools_folder):
    """The number of examples, each in a shard."""
    written = partitions.run(data, _writer(directory, columns, tools_folder),
                             [("name", "string"), ("examples", "long")])
    _clear_attempts(directory)
    for name, _ in written:
        if not os.path.exists(os.path.join(directory, name)):
            raise Failure(
                f"'{directory}/{name}' was written by an executor and is not on the "
                "driver: name a folder that all hosts mount, such as NFS", 66)
    examples = sum(count for _, count in written)
    if examples == 0:
        raise Failure("the data have no rows: nothing to write", 65)
    return examples


def _writer(directory, columns, tools_folder):
    def write(chunks, partition):
        chunks, any_rows = partitions.first_of(chunks)
        if not any_rows:
            return
        attempt = os.path.join(directory, ".attempt-" + uuid.uuid4().hex)
        try:
            os.mkdir(attempt)
            # The seed also tells the sets of equal partitions apart.
            command = [tools.find("dl-shard", tools_folder), "--no-provenance",
                       "--shuffle", "--seed", str(partition),
                       "-o", os.path.join(attempt, f"part-{partition:05d}")]
            with Pipeline(
                    [[tools.find("dl-preprocess", tools_folder)] + columns.arguments(),
                     command],
                    partitions.feed(chunks, columns)) as pipeline:
                said = pipeline.output.read().decode()
                pipeline.finish()
            path, examples = said.rstrip("\n").rsplit("\t", 1)
            name = os.path.basename(path)
            _commit(path, os.path.join(directory, name))
            yield name, int(examples)
        except OSError as error:
            raise Failure(f"cannot write to '{directory}' on host "
                          f"{os.uname().nodename}: {error.strerror}: it must be on "
                          "storage that all hosts see", 73) from None
        finally:
            tools.remove(attempt)
    return write


def _commit(path, name):
    """The first who is done gives the shard; another task has the same rows."""
    try:
        os.link(path, name)
    except FileExistsError:
        pass
    except OSError:  # no links on this storage
        os.rename(path, name)


def _clear_attempts(directory):
    """Of tasks that were killed."""
    for name in os.listdir(directory):
        if name.startswith(".attempt-"):
            tools.remove(os.path.join(directory, name))
