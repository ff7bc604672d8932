"""Everything that the functions of this package raise is a Failure: what Spark, the
system or Python raise becomes one here."""

import functools
import inspect
import re

from dl_spark.tools import Failure


def only_failures(function):
    """The function, raising Failure alone (and what is no error, as
    KeyboardInterrupt)."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapped(*arguments, **named):
        try:
            signature.bind(*arguments, **named)
        except TypeError as error:
            raise Failure(f"{function.__name__}(): {error}; see dl-spark(7)") from None
        try:
            return function(*arguments, **named)
        except Failure:
            raise
        except Exception as error:
            raise of(error) from error
    return wrapped


def of(error):
    """The Failure that tells of an exception."""
    if _of_spark(error):
        return reason(error) or Failure(sentence(error), 69)
    if isinstance(error, OSError):
        where = f"'{error.filename}': " if error.filename else ""
        return Failure(f"{where}{error.strerror or error}", 74)
    return Failure(f"{type(error).__name__}: {error}", 70)


def _of_spark(error):
    return any(kind.__module__.partition(".")[0] in ("pyspark", "py4j")
               for kind in type(error).__mro__)


def from_task(failure):
    """The Failure for a task to raise: the driver gets its text alone, of a line."""
    said = " ".join(str(failure).split("\n"))
    return Failure(f"{said} [status {failure.status}]", failure.status)


def reason(error):
    """The Failure that ended a Spark job, out of its long text; or None."""
    found = re.findall(r"dl_spark\.tools\.Failure: (.*?)(?: \[status (-?\d+)\])?\s*$",
                       text(error), re.M)
    if not found:
        return None
    said, status = found[-1]
    return Failure(said, int(status)) if status else Failure(said)


def sentence(error):
    """What ended a Spark job, in a sentence."""
    failure = reason(error)
    if failure:
        return str(failure)
    told = text(error).strip()
    # Reason of a failure: of an exception in Python, the line below its traceback; of a
    # failure, its most recent reason; else what stands first, behind the class of the
    # exception.
    raised = re.findall(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)$",
                        told, re.M)
    recent = re.search(r"(ExecutorLostFailure.*)", told)
    line = raised[-1] if raised else recent[1] if recent else told.partition("\n")[0]
    return line.replace("org.apache.spark.SparkException: ", "").strip()


def cancelled(error):
    return re.search(r"\b(cancell?ed|CANCELLED)\b", text(error)) is not None


def text(error):
    return str(getattr(error, "java_exception", None) or error)
