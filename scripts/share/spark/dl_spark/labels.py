"""Names of classes, and the labels that stand for them."""

import math
from numbers import Real

from dl_spark.arguments import is_whole
from dl_spark.tools import Failure

MOST = 65536


def indices(classes):
    """{label: index of its class}.

    classes: their number: labels are 0, 1, ..., as numbers or as text; or a list of
    names, which labels that are numbers may call by their number as well, unless
    names are numbers themselves.
    """
    if not isinstance(classes, (list, tuple)):
        numbers = {i: i for i in range(int(classes))}
        return numbers | {str(i): i for i in numbers}
    names = {str(name): i for i, name in enumerate(classes)}
    # Equal numbers are the same key, whatever their type.
    numbers = {number: i for name, i in names.items()
               if (number := _number(name)) is not None}
    return (numbers or {i: i for i in range(len(classes))}) | names


def _number(name):
    try:
        number = float(name)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def found(names, column):
    """The names, sorted, of labels that are in a column."""
    names = sorted(str(name) for name in names if name is not None)
    if len(names) < 2 or len(names) > MOST:
        raise Failure(f"column '{column}' has {len(names)} different labels: give "
                      "classes=, or regression=True if they are numbers to predict", 65)
    if "" in names:
        raise Failure(f"column '{column}' has labels that are empty: drop such rows, as with "
                      f"df.where(\"`{column}` != ''\")", 65)
    if any("\0" in name for name in names):
        raise Failure(f"column '{column}' has labels with the character NUL: drop such rows, "
                      "or put them right", 65)
    return names


def check(classes):
    """classes= as it was given: None, a number or a list of names."""
    if classes is None or is_whole(classes) and 2 <= classes <= MOST:
        return
    if not isinstance(classes, (list, tuple)) or not 2 <= len(classes) <= MOST:
        raise Failure(f"classes={classes!r:.50}: want a list of names, or their number, of 2 "
                      f"to {MOST}")
    for name in classes:
        if str(name) == "" or "\0" in str(name) or not isinstance(name, (str, Real)):
            raise Failure(f"classes=: {name!r:.50} is no name of a class")
    if len({str(name) for name in classes}) < len(classes):
        raise Failure("classes=: a name is there twice")
