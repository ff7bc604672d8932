"""Brings a model to the executors, once to each."""

import hashlib
import os
import shutil
import tempfile

from dl_spark.partitions import context_of


def ship(data, path):
    """A function that gives, in a task, the path of the model there.

    The file is copied now: predictions are made later, when the DataFrame is
    used, and are those of the model as it is now.
    """
    context = context_of(data)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    name = f"dl-model-{digest}.safetensors"
    shipped = context.__dict__.setdefault("_dl_spark_models", set())
    if name not in shipped:
        folder = tempfile.mkdtemp(prefix="dl-spark-")
        try:
            copy = os.path.join(folder, name)
            shutil.copyfile(path, copy)
            context.addFile(copy)
            _keep(context, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shipped.add(name)

    def there():
        from pyspark import SparkFiles
        return SparkFiles.get(name)
    return there


def _keep(context, folder):
    """Executors that start later fetch the file from the driver, so it stays
    until this program ends; Spark has no word for taking a file back."""
    import atexit
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
