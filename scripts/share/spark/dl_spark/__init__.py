"""dl-tools inside a Spark program: train, evaluate and predict on a DataFrame
or an RDD.  The manual is dl-spark(7).

    import dl_spark
    model, report = dl_spark.fit(df, "lenet.json", directory="/nfs/mnist")
    dl_spark.evaluate(test, model)
    dl_spark.predict(new, model).write.parquet("/out")
"""

from dl_spark.columns import Columns
from dl_spark.evaluate import evaluate
from dl_spark.fit import fit
from dl_spark.predict import predict
from dl_spark.settings import (AdaptiveThresholdAlgorithm,
                               FixedThresholdAlgorithm,
                               NoOpResidualPostProcessor,
                               ParameterAveragingTrainingMaster,
                               ResidualClippingPostProcessor,
                               SharedTrainingMaster,
                               SynchronousTrainingMaster,
                               TargetSparsityThresholdAlgorithm,
                               VoidConfiguration)
from dl_spark.shards import write_shards
from dl_spark.tools import Failure

__version__ = "0.2.0"
__all__ = [
    "AdaptiveThresholdAlgorithm", "Columns", "Failure",
    "FixedThresholdAlgorithm", "NoOpResidualPostProcessor",
    "ParameterAveragingTrainingMaster", "ResidualClippingPostProcessor",
    "SharedTrainingMaster", "SynchronousTrainingMaster",
    "TargetSparsityThresholdAlgorithm", "VoidConfiguration", "evaluate", "fit", "predict", "write_shards"]
