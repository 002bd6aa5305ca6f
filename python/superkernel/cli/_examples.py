"""Examples of every command, shown at the end of its help; a test reads each of them as the command line would."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES", "shown"]

#: By the words of the command: arguments, and what they are for.
EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("compile ops.json --name fused", "build a super kernel from an op list"),
        ("scope dump.pbtxt", "show what the marked ranges of a model become"),
        ("run ops.json", "run a super kernel on the simulator and check it"),
    ),
    "activate": (
        ("", "for the Python that runs this command"),
        ("--toolkit /usr/local/Ascend/ascend-toolkit/latest", "for every Python that uses this toolkit"),
    ),
    "build": (
        ("graph.json --soc Ascend910B1 -j 8", "build all super kernels of a model, eight tools at a time"),
        ("dump.pbtxt --report build.html", "and write a page about the build"),
        ("graph.json --fallback --executor processes://4", "in four processes; what cannot be built runs alone"),
    ),
    "cache": (
        ("stats", "how large the cache is, and how often it helped"),
        ("export kernels.tar", "save all entries, for `cache import` elsewhere"),
    ),
    "cache clear": (
        ("", "empty the user's own cache"),
        ("--cache-dir /shared/kernels", "empty another folder"),
    ),
    "cache export": (
        ("kernels.tar", "save all kernels"),
        ("- --cache-dir /shared/kernels", "those of another folder, into a pipe"),
    ),
    "cache import": (
        ("kernels.tar", "take over what `cache export` has saved"),
        ("- --cache-dir /shared/kernels", "from a pipe, into another folder"),
    ),
    "cache ls": (
        ("", "all kernels, with size and age"),
        ("--json", "the same for scripts"),
    ),
    "cache stats": (
        ("", "of the user's own cache"),
        ("--cache-dir /shared/kernels --json", "of another folder, for scripts"),
    ),
    "cache verify": (
        ("", "whether every kernel is as it was stored"),
        ("--cache-dir /shared/kernels", "the same for another folder"),
    ),
    "cache why": (
        ("ops.json --name fused", "whether a compile of this would be a hit, and why not"),
        ("kernel_meta/fused.json", "the same for a kernel that was built"),
    ),
    "calibrate": (
        ("prof_result --model graph.json", "fit prices to runs without and with super kernels"),
        ("prof_result --model graph.json --out prices.json", "and keep them in a file"),
    ),
    "check": (
        ("program.txt", "check a device program"),
        ("-", "check what `superkernel plan ops.json --text` prints into this command"),
    ),
    "compare": (
        ("prof_result", "the folders no_sk_model and sk_model in it"),
        ("prof_result --json", "the figures, for scripts"),
    ),
    "compile": (
        ("ops.json --name fused", "build kernel_meta/fused.o and fused.json"),
        ("ops.json --soc Ascend910B1 --toolchain cann", "for a device, with CANN's compiler"),
        ("ops.json --options split-mode=2:profiling=1 --keep", "with these options; keep the generated source"),
    ),
    "completions": (
        ("bash", "print the completions of bash"),
        ("zsh", "print the completions of zsh"),
    ),
    "deactivate": (
        ("", "undo `activate` for this Python"),
        ("--toolkit /usr/local/Ascend/ascend-toolkit/latest", "undo it in a toolkit"),
    ),
    "doctor": (
        ("", "show what a build here would use"),
        ("--json", "the same for scripts; the exit status says whether a build could work"),
    ),
    "elf": (
        ("show kernel.o", "sections and symbols"),
        ("edit kernel.o -o changed.o --rename old=new", "rename a symbol"),
        ("join a.o b.o -o both.o", "join two objects, relocations kept"),
    ),
    "elf edit": (
        ("kernel.o -o changed.o --rename old=new --localize helper", "rename one symbol, hide another"),
        ("kernel.o -o smaller.o --drop-sections .debug", "without debug information"),
    ),
    "elf join": (
        ("a.o b.o -o both.o", "keep everything that is visible"),
        ("a.o library.a -o both.o --keep-global entry", "and hide all but one name"),
    ),
    "elf link": (
        ("kernel.o -o kernel_linked.o", "the file that a device loads"),
        ("a.o b.a -o kernel_linked.o --localize helper", "link several files, hide one name"),
    ),
    "elf pack": (
        ("kernels.a a.o b.o", "an archive of two objects"),
        ("copies.a plus.o plus_split1.o", "an archive of the copies that `elf split` made"),
    ),
    "elf show": (
        ("kernel.o", "a summary"),
        ("kernels.a --all", "every symbol and section of all members"),
    ),
    "elf split": (
        ("kernel.o entry", "as many copies as `split-mode` makes by default"),
        ("kernel.o entry_cube entry_vec -n 2 -d copies", "two copies of both functions, in a folder"),
    ),
    "elf unpack": (
        ("kernels.a", "all members, into this folder"),
        ("kernels.a -d members", "into another one"),
    ),
    "explain": (
        ("SK0306", "what an error means and what to do"),
        ("ops.json", "what a super kernel becomes, and why"),
    ),
    "generate": (
        ("ops.json", "print the source"),
        ("ops.json --name fused -o fused.cpp", "write the source of a kernel of this name"),
    ),
    "locate": (
        ("fused.o 0x1240800240f8 --start 0x124080024000", "which op, function and line this is"),
        ("fused.o --log plog.txt", "all places that a device's log names"),
    ),
    "op": (
        ("norm/rms_norm --input x=float16:16x1024 --input gamma=float16:1024", "run an operator with random inputs"),
        ("swi_glu --input x=@x.npy --reference refs:swi_glu --tool pipe,cache", "and compare with a Python function"),
        ("my_op --input x=float32:64 --sub-kernel build --form static", "make the files that `compile` fuses"),
    ),
    "options": (
        ("", "list all options"),
        ("split-mode=2:profiling=1", "check an option string"),
        ("--aclgraph", "counterparts of the other engine's options"),
    ),
    "plan": (
        ("ops.json", "show the super kernel"),
        ("ops.json --check", "and all that a compile would refuse"),
        ("ops.json --html plan.html", "write a picture of it"),
    ),
    "predict": (
        ("graph.json --profile prof_result", "what the super kernels of a model gain"),
        ("ops.json --profile op_summary.csv --ops", "one super kernel, op by op"),
    ),
    "profile": (
        ("dump.bin --kernel kernel_meta/fused.json --clock-mhz 50", "tables, in microseconds"),
        ("dump.bin --kernel kernel_meta/fused.json --json", "a profile for `predict` and `calibrate`"),
    ),
    "replay": (
        ("fused.tar", "repeat the build of a reproducer"),
        ("fused.tar --keep", "and keep the generated source"),
    ),
    "run": (
        ("ops.json", "100 seeds with all usual tools"),
        ("ops.json --seed 17 --tool pipe", "one seed, as a finding names it"),
        ("ops.json --input x=x.npy --expect y=y.npy", "with own inputs, compared with expected results"),
    ),
    "scope": (
        ("dump.pbtxt", "what the scopes of a model become"),
        ("dump.pbtxt --html scopes.html", "the same as a picture"),
        ("graph.json --not-fusable MatMul,Cast", "as if these types could not be fused"),
    ),
    "sim": (
        ("add.cpp", "compile and run a program with its kernels"),
        ("-D SIZE=1024 --tool pipe add.cpp --verbose", "with a macro and a tool; `--verbose` goes to the program"),
    ),
    "suggest": (
        ("dump.pbtxt --profile prof_result", "ranges that pay"),
        ("graph.json --profile prof_result --json", "the same for scripts"),
    ),
    "torchair": (
        ("decode.py --steps 1", "run a script without an NPU and plan its graphs"),
        ("--html scopes.html decode.py", "and write a picture of each graph"),
    ),
    "trace": (
        ("run.json", "what the critical path of a run spends its time in"),
        ("before.json after.json --html compare.html", "two runs side by side, as one page"),
    ),
    "tune": (
        ("ops.json --profile op_summary.csv", "the options that the cost model thinks fastest"),
        ("graph.json --profile prof_result --top 3", "of a model; the three fastest of each scope"),
    ),
    "version": (
        ("", "print the version"),
        ("-v", "the same; `-v` fits every command"),
    ),
    "why": (
        ("fused", "why kernel_meta/fused.o was built"),
        ("fused --json", "the same for scripts"),
    ),
}  # fmt: skip


def shown(prog: str) -> str:
    """The end of a help text; nothing for a command without examples."""
    examples = EXAMPLES.get(prog.partition(" ")[2], ())
    lines = [f"  {f'{prog} {arguments}'.rstrip()}\n      {text}" for arguments, text in examples]
    return "\n".join(["", "examples:", *lines, ""]) if lines else ""
