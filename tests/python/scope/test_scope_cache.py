"""The kernels of a process, as builds of models leave them. How they are shared: `src/build/model/once.rs`."""

from __future__ import annotations

import os
from pathlib import Path

import superkernel
from kernel_library import AIC, KernelLibrary
from superkernel.scope import Graph, KernelCache, compile_graph, kernels


def model(library: KernelLibrary) -> Graph:
    graph = Graph()
    for op in (library.op("one"), library.op("cube", AIC)):
        paths = {key: op.entry()[key] for key in ("bin_path", "json_path")}
        graph.op(op.name, "Op", support=1, scope="s", stream=0, kernel_name=op.name, **paths)
    return graph


def test_a_process_knows_its_kernels_and_a_forked_one_begins_anew(library: KernelLibrary, tmp_path: Path) -> None:
    graph = model(library)
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        (result,) = compile_graph(graph).results
        name = f"{tmp_path / 'kernel_meta'}:{result.kernel_name}"
        assert result.state == "compiled" and kernels.state(name) == "finished"
        assert KernelCache().state(name) == "absent"
        child = os.fork()
        if child == 0:
            # Nothing of the parent's is waited for; what it built is found in place.
            known = kernels.state(name)
            state = compile_graph(graph).results[0].state
            os._exit(0 if (known, state) == ("absent", "up to date") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        kernels.clear()
        assert kernels.state(name) == "absent"


def test_an_interrupted_build_leaves_nothing_behind(library: KernelLibrary, tmp_path: Path) -> None:
    """Whoever is told of a stage may stop all of it by raising; the next call builds."""
    graph = model(library)

    def stop(done: int, total: int, result: object) -> None:
        raise KeyboardInterrupt

    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        try:
            compile_graph(graph, progress=stop)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("it was not stopped")
        kernels.clear()
        assert compile_graph(graph).results[0].state == "up to date"
