"""Random super kernels over the library: what runs, on which data, in which order.

A program is right by construction: whenever two of its operators touch the same buffer, the streams and events it
declares order them. What it must compute follows from the list of operators alone (``Program.expected``).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from kernels.library import AIC, AIV, BY_NAME, KERNELS, MIX, Constants, Kernel, N

#: Cores of the simulated platform: few enough to be fast, enough for every kernel of the library.
AIC_NUM = 4
AIV_NUM = 8

DATA_BUFFERS = 5
WORKSPACES = 3


@dataclass(frozen=True)
class Tiling:
    """What a tiling task decides about a dynamic operator."""

    key: int
    blocks: int
    constants: Constants


@dataclass
class Step:
    """One operator of a program."""

    kernel: Kernel
    x1: int
    x2: int
    y: int
    workspace: int
    stream: int = 0
    sends: list[int] = field(default_factory=list)
    receives: list[int] = field(default_factory=list)
    tiling: Tiling | None = None

    @property
    def constants(self) -> Constants:
        return self.tiling.constants if self.tiling else self.kernel.constants

    def conflicts(self, other: Step) -> bool:
        """Do the two touch a common buffer, one of them writing?"""
        mine, theirs = {("d", self.y), ("w", self.workspace)}, {("d", other.y), ("w", other.workspace)}
        reads, other_reads = {("d", self.x1), ("d", self.x2)}, {("d", other.x1), ("d", other.x2)}
        return bool(mine & (theirs | other_reads) or theirs & reads)


@dataclass
class Program:
    """A super kernel to be."""

    chip: str
    steps: list[Step]
    options: dict[str, str]
    #: Outer events: id -> number of the step that sends it.
    notifies: dict[int, int] = field(default_factory=dict)
    #: Outer events: id -> number of the step that receives it.
    waits: dict[int, int] = field(default_factory=dict)
    #: Outer receive -> outer send that must be seen before it is answered; without one it is answered right away.
    answers: dict[int, int] = field(default_factory=dict)
    #: Places in the op list that hold an entry without a kernel: skipped, but counted.
    holes: list[int] = field(default_factory=list)
    #: Built with this many copies by the op builder; None: left to the super kernel.
    built_split: int | None = None

    @property
    def option_text(self) -> str:
        return ":".join(f"{name}={value}" for name, value in self.options.items())

    def on(self, option: str) -> bool:
        return self.options.get(option) == "1"

    def initial(self, seed: int = 1) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        return [generator.integers(0, 2**32, N, dtype=np.uint32) for _ in range(DATA_BUFFERS)]

    def expected(self, data: list[np.ndarray]) -> list[np.ndarray]:
        """The data buffers after all steps, one after another."""
        data = [buffer.copy() for buffer in data]
        for step in self.steps:
            data[step.y] = step.constants.apply(data[step.x1], data[step.x2])
        return data

    def describe(self) -> str:
        """Everything needed to build it again by hand."""
        lines = [f"{self.chip} {self.option_text} split={self.built_split}"]
        for number, step in enumerate(self.steps):
            text = (
                f"{number:3} {step.kernel.name:10} d{step.x1} d{step.x2} -> d{step.y} w{step.workspace} s{step.stream}"
            )
            if step.tiling:
                text += f" key={step.tiling.key} blocks={step.tiling.blocks}"
            if step.sends:
                text += f" sends {step.sends}"
            if step.receives:
                text += f" receives {step.receives}"
            lines.append(text)
        lines.append(f"holes {self.holes}")
        lines.append(f"outer: notifies {self.notifies} waits {self.waits} answers {self.answers}")
        return "\n".join(lines)


class Composer:
    """Makes one random program."""

    def __init__(self, seed: int, chip: str) -> None:
        self.random = random.Random(f"{chip}-{seed}")
        self.chip = chip
        self.next_event = 10
        self.steps: list[Step] = []
        #: For every step the steps that are ordered before it.
        self.before: list[set[int]] = []

    def program(self) -> Program:
        several_streams = self.random.random() < 0.35
        options = self._options(several_streams)
        kernels = self._kernels(options, several_streams)
        length = min(self.random.choice([2, 3, 4, 5, 6, 8, 10, 14, 20, 40]), 40)
        streams = self.random.choice([2, 2, 3]) if several_streams else self.random.choice([1, 1, 2])
        for number in range(length):
            self._add(self.random.choice(kernels), number, streams, several_streams)
        program = Program(self.chip, self.steps, options)
        self._outer_events(program)
        if several_streams:
            self._backward_events(program)
        if self.random.random() < 0.1:
            program.holes = [self.random.randint(0, length)]
        if options.get("split-mode") in ("2", "4") and self.random.random() < 0.3:
            program.built_split = int(options["split-mode"])
        return program

    def _options(self, several_streams: bool) -> dict[str, str]:
        pick = self.random.choice
        options = {"split-mode": pick(["1", "2", "3", "4", "4"]), "compile-options": "-O0"}
        if several_streams:
            options["stream-fusion"] = "1"
        options["early-start"] = pick(["0", "1", "1", "1", "2"])
        for name, chance in (
            ("feed-sync-all", 0.35),
            ("debug-sync-all", 0.2),
            ("debug-dcci-all", 0.2),
            ("profiling", 0.2),
        ):
            if self.random.random() < chance:
                options[name] = "1"
        if self.random.random() < 0.5:
            options["preload-code"] = pick(["max", "none", "per-func"])
        for name in ("dcci-before-kernel-start", "dcci-after-kernel-end", "dcci-disable-on-kernel"):
            if self.random.random() < 0.1:
                options[name] = pick(["Dynmix,Dynvec", "Dyncub", "Dynvec"])
        if self.random.random() < 0.15:
            options["debug-aic-num"], options["debug-aiv-num"] = str(AIC_NUM), str(AIV_NUM)
        return options

    def _kernels(self, options: dict[str, str], several_streams: bool) -> list[Kernel]:
        """Those the options allow, of the classes this program is about."""
        classes = self.random.choice([{AIV}, {AIC}, {MIX}, {AIV, AIC}, {AIV, MIX}, {AIC, MIX}] + [{AIV, AIC, MIX}] * 4)
        if several_streams:
            classes = self.random.choice([{AIV, AIC}, {AIV, AIC, MIX}, {AIV, AIC, MIX}, {AIV, MIX}])
        early = options["early-start"] != "0" and not several_streams
        dynamic = self.random.random() < 0.4

        def allowed(kernel: Kernel) -> bool:
            if self.chip not in kernel.chips or kernel.kind not in classes:
                return False
            if (kernel.sets or kernel.waits) and not early:
                return False
            if kernel.meets and options.get("feed-sync-all") != "1":
                return False
            return dynamic or not kernel.dynamic

        # The forced core counts need both kinds.
        return [kernel for kernel in KERNELS if allowed(kernel)]

    def _add(self, kernel: Kernel, number: int, streams: int, several_streams: bool) -> None:
        stream = self.random.randrange(streams)
        for _ in range(20):
            step = self._draw(kernel, stream)
            needed = self._missing_events(number, step)
            if several_streams and len(needed) <= 2:
                break
            if not several_streams:
                break
        same_stream = [other for other, earlier in enumerate(self.steps) if earlier.stream == stream]
        ordered = set(same_stream)
        for other in same_stream:
            ordered |= self.before[other]
        if not several_streams:
            # In the one-stream form every change of stream is an event, and op order is the order.
            needed = []
            if self.steps and self.steps[-1].stream != stream:
                needed = [number - 1]
            ordered = set(range(number))
        self.steps.append(step)
        self.before.append(ordered)
        for sender in needed:
            self._connect(sender, number)
        if several_streams and number and self.random.random() < 0.15:
            others = [other for other in range(number) if self.steps[other].stream != stream and other not in ordered]
            if others:
                self._connect(self.random.choice(others), number)

    def _draw(self, kernel: Kernel, stream: int) -> Step:
        y, x1 = self.random.sample(range(DATA_BUFFERS), 2)
        step = Step(kernel, x1, self.random.randrange(DATA_BUFFERS), y, self.random.randrange(WORKSPACES), stream)
        if kernel.dynamic:
            key = self.random.choice(list(kernel.tiling_keys))
            most = AIV_NUM if "AIV" in kernel.tiling_keys[key] else AIC_NUM
            constants = Constants(*(self.random.randrange(2**32) for _ in range(3)), 7, self.random.randrange(N))
            step.tiling = Tiling(key, self.random.randint(1, most), constants)
        return step

    def _missing_events(self, number: int, step: Step) -> list[int]:
        """Earlier steps that need an event to `step`, so that everything it conflicts with is ordered before it."""
        ordered: set[int] = set()
        for other in range(number):
            if self.steps[other].stream == step.stream:
                ordered |= {other} | self.before[other]
        needed = []
        for other in reversed(range(number)):
            if other not in ordered and self.steps[other].conflicts(step):
                needed.append(other)
                ordered |= {other} | self.before[other]
        return needed

    def _connect(self, sender: int, receiver: int) -> None:
        event = self.next_event
        self.next_event += 1
        self.steps[sender].sends.append(event)
        self.steps[receiver].receives.append(event)
        self.before[receiver] |= {sender} | self.before[sender]

    def _outer_events(self, program: Program) -> None:
        last = len(self.steps) - 1
        if self.random.random() > 0.35:
            return
        for _ in range(self.random.randint(1, 3)):
            event = self.next_event
            self.next_event += 1
            if self.random.random() < 0.5:
                sender = self.random.randrange(last)
                self.steps[sender].sends.append(event)
                program.notifies[event] = sender
            else:
                receiver = self.random.randint(1, last)
                self.steps[receiver].receives.append(event)
                program.waits[event] = receiver
                earlier = [sent for sent, sender in program.notifies.items() if sender < receiver]
                if earlier and self.random.random() < 0.7:
                    program.answers[event] = self.random.choice(earlier)

    def _backward_events(self, program: Program) -> None:
        """Events against op order, where the two sides allow it: they order what is in no conflict."""
        followers: list[set[int]] = [set() for _ in self.steps]
        for receiver, earlier in enumerate(self.before):
            for sender in earlier:
                followers[sender].add(receiver)
        for side in (AIC, AIV):
            members = [number for number, step in enumerate(self.steps) if step.kernel.kind in (side, MIX)]
            for first, second in zip(members, members[1:]):
                followers[first].add(second)
        for received, sent in program.answers.items():
            followers[program.notifies[sent]].add(program.waits[received])
        for _ in range(self.random.choice([0, 0, 1, 3])):
            sender, receiver = self.random.sample(range(len(self.steps)), 2)
            if sender < receiver or receiver == 0 or sender == len(self.steps) - 1:
                continue
            same_stream = self.steps[sender].stream == self.steps[receiver].stream
            if same_stream or sender in _reachable(followers, receiver):
                continue
            followers[sender].add(receiver)
            self._connect(sender, receiver)


def _reachable(followers: list[set[int]], start: int) -> set[int]:
    found: set[int] = set()
    open_numbers = [start]
    while open_numbers:
        for number in followers[open_numbers.pop()] - found:
            found.add(number)
            open_numbers.append(number)
    return found


def random_program(seed: int, chip: str = "c220") -> Program:
    """The program number `seed`."""
    return Composer(seed, chip).program()


def chain(chip: str, names: list[str], **options: str) -> Program:
    """A directed program: the named kernels one after another, each reading what the one before wrote."""
    steps = [
        Step(
            BY_NAME[name],
            x1=number % DATA_BUFFERS,
            x2=(number + 2) % DATA_BUFFERS,
            y=(number + 1) % DATA_BUFFERS,
            workspace=0,
        )
        for number, name in enumerate(names)
    ]
    text = {"compile-options": "-O0", **{name.replace("_", "-"): value for name, value in options.items()}}
    return Program(chip, steps, text)
