"""Outputs of operators beside what was expected of them: `OperatorRun.compare`, `Operator.expected`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from superkernel import SuperKernelError, sim
from superkernel.sim.operator import OperatorRun

OPERATORS = Path(__file__).resolve().parents[3] / "examples" / "operators"


def run_of(**outputs: Any) -> OperatorRun:
    made = {
        name: [sim.tensor(one) for one in value] if isinstance(value, list) else sim.tensor(value)
        for name, value in outputs.items()
    }
    nothing = cast(Any, None)
    return OperatorRun("Made", nothing, nothing, nothing, made)


def test_lists_of_other_lengths_differ() -> None:
    done = run_of(y=[np.zeros(3), np.ones(3)])
    for wanted in ([np.zeros(3)], np.zeros(3), [np.zeros(3), np.ones(3), np.ones(3)], []):
        (found,) = done.compare({"y": wanted})
        assert not found.ok and "2 tensors, expected" in str(found)
    same = done.compare({"y": (np.zeros(3), np.ones(3))})
    assert [one.name for one in same] == ["y[0]", "y[1]"] and all(one.ok for one in same)
    swapped = done.compare({"y": [np.ones(3), np.zeros(3)]})
    assert [one.wrong for one in swapped] == [3, 3]


def test_nested_lists_are_one_array_for_one_output() -> None:
    done = run_of(y=np.eye(2))
    (found,) = done.compare({"y": [[1, 0], [0, 1]]})
    assert found.ok
    (found,) = done.compare({"y": [[1, 0], [1, 1]]})
    assert found.first == (1, 0)
    for odd in ([[1, 0], [0]], "text", None):
        with pytest.raises(SuperKernelError, match="no array of numbers"):
            done.compare({"y": odd})


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_whole_numbers_of_64_bits_are_compared_exactly(dtype: str) -> None:
    large = 2**62 + 1
    done = run_of(y=np.array([5, large], dtype))
    (found,) = done.compare({"y": np.array([5, large], dtype)})
    assert found.ok
    (found,) = done.compare({"y": np.array([5, large - 1], dtype)})
    assert found.first == (1,) and found.wrong == 1 and found.largest == 1
    assert str(large) in found.told and str(large - 1) in found.told
    (found,) = done.compare({"y": np.array([5, large - 1], dtype)}, atol=1)
    assert found.ok


def test_whole_numbers_of_either_sign_are_not_taken_for_each_other() -> None:
    done = run_of(y=np.array([-1], "int64"))
    (found,) = done.compare({"y": np.array([2**64 - 1], "uint64")})
    assert not found.ok


def test_results_of_a_reference() -> None:
    with sim.Operator(OPERATORS / "math/row_add", soc="Ascend910_93") as operator:
        x = np.zeros((8, 64), np.float32)

        def expected(result: Any) -> Any:
            return operator.expected({"x1": x}, lambda *_, **__: result)

        assert list(expected(x)) == list(expected((x,))) == list(expected({"y": x})) == ["y"]
        assert expected((None,)) == {}
        with pytest.raises(SuperKernelError, match="returned 2 results for 1 outputs of `RowAdd`") as error:
            expected((x, x))
        assert "order y" in str(error.value)
