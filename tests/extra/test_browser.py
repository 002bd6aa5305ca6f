"""The pictures in a real browser without a screen: Chromium, driven over its own driver."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import superkernel
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from superkernel import cost, pictures
from superkernel.cli import main
from superkernel.scope import Graph, plan

sys.path[:0] = [str(Path(__file__).parents[1] / "python" / "helpers"), str(Path(__file__).parents[2] / "benches")]
from op_lists import AIC, AIV, MIX_1_2, OpList  # noqa: E402
from plan_scale import op_list, write_kernels  # noqa: E402

SHOTS = Path(__file__).parents[2] / "target" / "pictures"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,850"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver, binary = shutil.which("chromedriver"), shutil.which("chromium")
    assert driver and binary, "run scripts/extra-tools first"
    options.binary_location = binary
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_page_load_timeout(60)
    yield made
    made.quit()


class Shown:
    """A page that has been drawn."""

    def __init__(self, browser: webdriver.Chrome, path: Path, anchor: str = "") -> None:
        self.browser = browser
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get(f"{path.as_uri()}{anchor}")
        WebDriverWait(browser, 60).until(
            lambda found: found.find_element(By.TAG_NAME, "body").get_dom_attribute("data-ready")
        )

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def panel(self) -> str:
        return str(self.browser.find_element(By.CLASS_NAME, "panel").text)

    def search(self, text: str) -> None:
        field = self.browser.find_element(By.CSS_SELECTOR, "input[type=search]")
        field.clear()
        field.send_keys(text)
        WebDriverWait(self.browser, 20).until(lambda _: self.all(".found div"))
        field.send_keys(Keys.ENTER)

    def in_view(self, element: Any) -> bool:
        script = (
            "const box = arguments[0].getBoundingClientRect(), place = document.querySelector('.drawing')"
            ".getBoundingClientRect(); return box.left >= place.left && box.right <= place.right;"
        )
        return bool(self.browser.execute_script(script, element))

    def overflowing(self) -> list[str]:
        """Labels that reach out of the box they were put on, and names that reach out of the panel."""
        script = """
            const found = [];
            for (const text of document.querySelectorAll('.drawing text.detail')) {
              let box = text;
              while (!box.classList.contains('box')) box = box.previousElementSibling;
              if (text.getBoundingClientRect().right > box.getBoundingClientRect().right) found.push(text.textContent);
            }
            const panel = document.querySelector('.panel');
            if (panel.scrollWidth > panel.clientWidth) found.push('panel');
            return found;"""
        return list(self.browser.execute_script(script))

    def done(self, name: str) -> None:
        """Nothing was wrong; and a picture of it to look at."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.browser.save_screenshot(str(SHOTS / f"{name}.png"))
        assert (SHOTS / f"{name}.png").stat().st_size > 10_000
        assert self.browser.get_log("browser") == []


def write(folder: Path, infos: dict[str, Any], name: str) -> Path:
    with superkernel.configure(soc="Ascend910_93"):
        picture = pictures.of_program(infos, name)
    path = folder / f"{name}.html"
    path.write_text(pictures.page("program", name, picture))
    return path


def test_a_program(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ops = OpList(tmp_path)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    ops.op(MIX_1_2, 8, send_event_list=[90]).op(AIC, 4, kernelName="last</script><b>one")
    shown = Shown(browser, write(tmp_path, ops.infos("stream-fusion=1:profiling=1"), "several"))
    assert len(shown.all(".box")) == 6, "a box per op and lane"
    assert len(shown.all("path.edge[marker-end]")) == 2, "an arrow per flag: op 0 to op 2, op 3 to op 4"
    # Search finds an op and brings it into view.
    shown.search("last")
    assert "last</script><b>one" in shown.panel()
    (found,) = shown.all(".box.chosen")
    assert found.get_dom_attribute("data-op") == "4" and shown.in_view(found)
    # A click shows its steps and its slots.
    box = shown.all('.box[data-op="2"]')[0]
    box.click()
    text = shown.panel()
    assert "wait-flag direction=aic-to-aiv sender=0 receiver=2" in text and "event 1" in text and "x_2" in text
    assert "call function=f2" in text
    # The text of the step under the pointer.
    mark = next(one for one in shown.all(".mark") if one.size["height"] > 80 and shown.in_view(one))
    ActionChains(browser).move_to_element(mark).perform()
    tip = browser.find_element(By.CLASS_NAME, "tip").text
    assert "barrier over=" in tip and "why: " in tip
    assert "barrier over=" in browser.find_element(By.CLASS_NAME, "line").text
    # Everything that must come after something else, if asked for.
    assert not any(edge.is_displayed() for edge in shown.all(".edge.implied"))
    browser.find_element(By.CSS_SELECTOR, "input[type=checkbox]").click()
    assert all(edge.is_displayed() for edge in shown.all(".edge.implied"))
    shown.done("program")


def test_a_predicted_gain(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ops = OpList(tmp_path).op(AIC, 8).op(AIV, 16)
    for number, entry in enumerate(ops.ops):
        entry["name"] = f"op{number}"
    table = "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim\n"
    (tmp_path / "op_summary_1.csv").write_text(table + "op0,K,AI_CORE,20,1,8\nop1,K,AI_VECTOR_CORE,30,1,8\n")
    out = str(tmp_path / "out.html")
    command = ["plan", str(ops.write()), "--html", out, "--profile", str(tmp_path), "--soc", "Ascend910_93"]
    assert main(command) == 0
    shown = Shown(browser, Path(out))
    assert shown.all(".chip.gain")[0].text.startswith("predicted gain ")
    assert "predicted, not measured" in shown.panel() and "ops alone" in shown.panel()
    shown.all('.box[data-op="1"]')[0].click()
    assert "alone 30.00 us" in shown.panel()
    shown.done("predicted-gain")


def test_one_stream_with_everything(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ops = OpList(tmp_path)
    for number in range(12):
        ops.op((AIC, AIV, MIX_1_2)[number % 3], (8, 16, 6)[number % 3])
    options = "feed-sync-all=1:debug-dcci-all=1:debug-sync-all=1"
    shown = Shown(browser, write(tmp_path, ops.infos(options), "one"), "#op-7")
    assert "7 k7" in shown.panel(), "another page may point at an op"
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    assert "8 k8" in shown.panel()
    # A barrier of all cores stands at one place in both lanes, and a line joins the two.
    joined = [box.rect["x"] + box.rect["width"] / 2 for box in shown.all(".meeting")]
    bars = [box.rect["x"] + box.rect["width"] / 2 for box in shown.all(".mark") if box.rect["height"] > 80]
    assert joined and all(sum(abs(bar - one) < 1 for bar in bars) == 2 for one in joined)
    shown.done("one-stream")


def test_long_names(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ops = OpList(tmp_path)
    for number in range(8):
        ops.op(
            (AIC, AIV)[number % 2],
            8,
            kernelName=f"te_{'WMwm' * 20}_{number}",
            sub_operator_op_type="FlashAttention" * 4,
        )
    shown = Shown(browser, write(tmp_path, ops.infos(), "long"), "#op-3")
    assert shown.overflowing() == []
    # Two words, one of them a number: the op of that number comes first.
    shown.search("wmwm 5")
    assert "_5" in shown.panel().splitlines()[0] + shown.panel().splitlines()[1]
    shown.done("long-names")


def test_1160_ops(browser: webdriver.Chrome, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "superkernel")
    infos = {"op_list": op_list(write_kernels(tmp_path, 25), 1160, 2), "super_kernel_options": "stream-fusion=1"}
    shown = Shown(browser, write(tmp_path, infos, "large"))
    assert len({box.get_dom_attribute("data-op") for box in shown.all(".box")}) == 1160
    shown.search("1159")
    assert "1159 " in shown.panel()
    assert shown.in_view(shown.all(".box.chosen")[0])
    browser.find_element(By.XPATH, "//button[text()='all']").click()
    assert "far" in browser.find_element(By.CSS_SELECTOR, ".drawing svg").get_dom_attribute("class")
    # From far away signs tell where what is, and which lane is which.
    signs = [text.text for text in shown.all(".ruler text") if text.is_displayed()]
    assert {"cube", "vector", "op 0"} <= set(signs) and len(signs) > 8
    numbers = [int(sign.split()[1]) for sign in signs if sign.startswith("op ")]
    assert numbers == sorted(numbers) and numbers[-1] > 1000
    shown.done("program-1160")


def timeline(folder: Path, infos: dict[str, Any], name: str, **cores: int) -> Path:
    """A prediction, written by the command as a user would."""
    (folder / f"{name}.infos.json").write_text(json.dumps(infos))
    counts = [word for kind, count in cores.items() for word in (f"--{kind}-num", str(count))]
    path = folder / f"{name}.html"
    command = ["plan", str(folder / f"{name}.infos.json"), "--name", name, "--soc", "Ascend910_93", *counts]
    assert main([*command, "--trace", str(path)]) == 0
    return path


def settled(browser: webdriver.Chrome) -> None:
    """Waits until what was asked for is drawn."""
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));")


def span(browser: webdriver.Chrome) -> tuple[float, float]:
    """What of the time axis is seen, in nanoseconds."""
    script = "return [view.nanos(GUTTER, kernels[0]), view.nanos(view.holder.clientWidth, kernels[0])];"
    settled(browser)
    first, last = browser.execute_script(script)
    return float(first), float(last)


def test_a_timeline(browser: webdriver.Chrome, tmp_path: Path) -> None:
    ops = OpList(tmp_path)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    ops.op(MIX_1_2, 8).op(AIC, 4, kernelName="last</script><b>one")
    shown = Shown(browser, timeline(tmp_path, ops.infos("stream-fusion=1"), "small"))
    names = {box.get_dom_attribute("data-name") for box in shown.all(".slice")}
    assert {"0 k0", "3 k3", "4 last</script><b>one", "task start", "wait for the other half"} <= names
    rows = [text.text for text in shown.all(".drawing svg text.row")]
    assert {"critical path", "AIC0", "AIC7", "AIV0", "AIV15"} <= set(rows)
    assert [text.text for text in shown.all(".ruler text")][:2] == ["0 us", "5 us"], "a time axis"
    assert shown.all("path.edge[marker-end]") and len(shown.all("path.critical")) == 1
    # A slice tells what it is, its arrows, and leads to the other end.
    wait = next(box for box in shown.all(".slice") if box.get_dom_attribute("data-name") == "wait for the other half")
    ActionChains(browser).move_to_element(wait).perform()
    assert "wait for the other half on AIC" in browser.find_element(By.CLASS_NAME, "tip").text
    # Zoom by the wheel keeps what is under the pointer; dragging moves it.
    whole = span(browser)
    wheel = "new WheelEvent('wheel', {deltaY: -600, clientX: 700, clientY: 300, bubbles: true})"
    browser.execute_script(f"document.querySelector('.drawing svg').dispatchEvent({wheel});")
    near = span(browser)
    assert near[1] - near[0] < (whole[1] - whole[0]) / 3 and whole[0] < near[0] < near[1] < whole[1]
    drawing = browser.find_element(By.CSS_SELECTOR, ".drawing svg")
    ActionChains(browser).click_and_hold(drawing).move_by_offset(-200, 0).release().perform()
    moved = span(browser)
    assert moved[0] > near[0] and moved[1] - moved[0] == pytest.approx(near[1] - near[0])
    browser.find_element(By.TAG_NAME, "body").send_keys("f")
    assert span(browser) == pytest.approx(whole)
    # Search brings an op into view; the keys go from slice to slice.
    shown.search("last")
    settled(browser)
    assert "4 last</script><b>one" in shown.panel() and shown.in_view(shown.all(".slice.chosen")[0])
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_LEFT)
    settled(browser)
    assert "released by" in shown.panel()
    shown.search("AIV3")
    assert "AIV3" in shown.panel()
    # Arrows and the critical path can be left out.
    for box in shown.all("input[type=checkbox]"):
        box.click()
    settled(browser)
    assert not shown.all("path.edge[marker-end]") and not shown.all("path.critical")
    assert "critical path" not in {text.text for text in shown.all(".drawing svg text.row")}
    shown.done("timeline")


def test_a_timeline_of_1160_ops_on_72_cores(browser: webdriver.Chrome, tmp_path: Path) -> None:
    infos = {"op_list": op_list(write_kernels(tmp_path, 25, blocks=24), 1160, 1), "super_kernel_options": ""}
    shown = Shown(browser, timeline(tmp_path, infos, "large", aic=24, aiv=48))
    assert len(browser.execute_script("return kernels[0].tracks")) == 72
    most = browser.execute_script("return 2 * MOST + 2 * MOST_ARROWS + 4 * rows.length + 200;")
    zooming = "view.zoom(arguments[0]); view.redraw(); return document.querySelectorAll('.drawing svg *').length;"
    counts = [browser.execute_script(zooming, 1)]
    for _ in range(18):
        counts.append(browser.execute_script(zooming, 2))
    # However much of it is seen, no more is drawn; and something is.
    assert max(counts) <= most < 8000 and min(counts) > 100
    # A row that cannot be seen is not there, and from near nothing is merged.
    browser.find_element(By.TAG_NAME, "body").send_keys("f")
    shown.search("700 ")
    settled(browser)
    assert shown.panel().startswith("700 ") and shown.in_view(shown.all(".slice.chosen")[0])
    drawn = {text.text for text in shown.all(".drawing svg text.row")}
    assert 10 < len(drawn) < 72
    browser.execute_script("view.zoom(60);")
    settled(browser)
    assert shown.all(".slice") and not shown.all(".slice.many")
    # From far away every row has a place, and blocks stand for many slices.
    browser.find_element(By.XPATH, "//button[text()='all']").click()
    settled(browser)
    lanes = shown.all(".lane")
    assert len(lanes) == 73 and all(box.rect["height"] < 12 for box in lanes[:3]) and shown.all(".slice.many")
    shown.done("timeline-1160")


def test_two_runs_side_by_side(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def written(name: str, last: str, blocks: int) -> str:
        folder = tmp_path / name
        folder.mkdir()
        infos = OpList(folder).op(AIC, 8).op(AIV, 16).op(last, blocks).infos()
        with superkernel.configure(soc="Ascend910_93"):
            traces, _ = cost.trace(infos, name="te_superkernel_t")
        (folder / "t.json").write_bytes(traces.to_bytes())
        return str(folder / "t.json")

    out = tmp_path / "two.html"
    assert main(["trace", written("a", AIV, 16), written("b", MIX_1_2, 8), "--html", str(out)]) == 0
    shown = Shown(browser, out)
    titles = [text.text for text in shown.all(".drawing svg text.title")]
    assert [title[:19] for title in titles] == ["A: te_superkernel_t", "B: te_superkernel_t"]
    # One axis for both: an op of one duration is equally wide in both.
    widths = [box.rect["width"] for box in shown.all('.slice[data-name="0 k0"]') if box.rect["width"] > 50]
    assert len(widths) >= 18 and max(widths) - min(widths) < 2
    assert "A and B, op by op: te_superkernel_t" in shown.panel()
    rows = [row.text for row in shown.all(".panel tbody tr")]
    assert any(row.startswith("2 k2 5 ") for row in rows)
    # A link of the table leads to the op.
    browser.find_element(By.XPATH, "//td/span[text()='1 k1']").click()
    settled(browser)
    assert shown.in_view(shown.all(".slice.chosen")[0]) and "op 1 k1 on all cores" in shown.panel()
    shown.done("two-runs")


def test_pipes(browser: webdriver.Chrome, tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    for tid, name in enumerate(("AIV0", "AIV0 MTE2", "AIV0 V"), 1):
        events.append({"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}})
        kind = "op" if tid == 1 else "instruction"
        events.append({"ph": "X", "pid": 1, "tid": tid, "ts": tid, "dur": 9, "name": f"0 slice{tid}", "cat": kind})
    about = {"kernel": "k", "axis": "simulator steps, shown as us (an order, not a time)", "unit": "steps", "notes": []}
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": events, "otherData": {"kernels": [about]}}))
    assert main(["trace", str(tmp_path / "t.json"), "--html", str(tmp_path / "t.html")]) == 0
    shown = Shown(browser, tmp_path / "t.html")

    def drawn() -> list[str]:
        settled(browser)
        return [text.text for text in shown.all(".drawing svg text.row")]

    assert drawn() == ["AIV0", "AIV0 MTE2", "AIV0 V"]
    assert "simulator steps (an order, not a time)" in shown.panel() and "10 steps" in browser.page_source
    # Nothing is known of a critical path, so nothing is to be switched.
    (pipes,) = shown.all("input[type=checkbox]")
    pipes.click()
    assert drawn() == ["AIV0"] and len(shown.all(".slice")) == 1
    pipes.click()
    assert len(drawn()) == 3
    shown.done("pipes")


def test_dark_mode(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path = timeline(tmp_path, OpList(tmp_path).op(AIC, 8).op(AIV, 16).infos(), "modes")

    def paper(mode: str) -> str:
        feature = {"features": [{"name": "prefers-color-scheme", "value": mode}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        shown = Shown(browser, path)
        shown.done(f"timeline-{mode}")
        return str(shown.all(".gutter")[0].value_of_css_property("fill"))

    try:
        assert (paper("light"), paper("dark")) == ("rgb(255, 255, 255)", "rgb(20, 24, 31)")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_site_follows_the_mode(browser: webdriver.Chrome, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    build = [str(Path(sys.executable).parent / "mkdocs"), "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=root, env=quiet, check=True)

    def seen(mode: str) -> tuple[str, str]:
        feature = {"features": [{"name": "prefers-color-scheme", "value": mode}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        browser.get("about:blank")
        browser.get((tmp_path / "gallery.html").as_uri())
        script = "return [document.body.dataset.mdColorScheme, document.querySelector('article img').currentSrc];"
        wanted = {"light": "default", "dark": "slate"}[mode]
        WebDriverWait(browser, 20).until(lambda found: found.execute_script(script)[0] == wanted)
        scheme, picture = browser.execute_script(script)
        return scheme, Path(picture).name

    try:
        assert seen("light") == ("default", "scope-light.png")
        assert seen("dark") == ("slate", "scope-dark.png")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_scopes(browser: webdriver.Chrome, tmp_path: Path) -> None:
    made = Graph("model")
    # Two streams that need nothing of each other.
    last = {0: [made.op("input", "Data", stream=0)], 1: []}
    for number in range(9):
        stream = number % 2
        fields: dict[str, Any] = {"stream": stream, "support": 0 if number == 4 else 1, "scope": "s"}
        last[stream] = [made.op(f"op{number}", "Add", last[stream], options="stream-fusion=1", **fields)]
    with superkernel.configure(soc="Ascend910_93"):
        data = pictures.of_scopes(made, plan(made))
    (tmp_path / "scope.html").write_text(pictures.page("scope", "model", data))
    shown = Shown(browser, tmp_path / "scope.html")
    assert len(shown.all(".box")) == 10 and len(shown.all(".box.out")) == 1 and len(shown.all(".cut")) == 1
    ActionChains(browser).move_to_element(shown.all(".cut")[0]).perform()
    assert "scope s is cut at op4" in browser.find_element(By.CLASS_NAME, "tip").text
    shown.search("op6")
    assert "in super kernel s_split" in shown.panel()
    assert shown.overflowing() == []
    shown.done("scopes")


def test_a_scope_without_a_super_kernel(browser: webdriver.Chrome, tmp_path: Path) -> None:
    made = Graph("model")
    made.op("alone", "Add", [made.op("input", "Data", stream=0)], stream=0, support=1, scope="s")
    (tmp_path / "scope.html").write_text(pictures.page("scope", "model", pictures.of_scopes(made, plan(made))))
    shown = Shown(browser, tmp_path / "scope.html")
    assert "scope s: no super kernel" in shown.panel()
    shown.done("scope_without")


def test_events_across_cuts(browser: webdriver.Chrome, tmp_path: Path) -> None:
    made = Graph("model")
    before = made.op("input", "Data", stream=0)
    for number in range(8):
        fields: dict[str, Any] = {"stream": number % 2, "support": 0 if number == 3 else 1, "scope": "s"}
        op = made.op(f"op{number}", "Add", [before], options="stream-fusion=1", **fields)
        if number:
            made.event(before, op)
        before = op
    # Two pieces with the same kernel.
    for name in ("t", "u"):
        for at in range(2):
            fields = {"stream": 0, "support": 1, "scope": name, "kernel_name": f"k{at}"}
            made.op(f"{name}{at}", "Mul", [], **fields, bin_path=f"k{at}.o", json_path=f"k{at}.json")
    made.add_origins({"op5": {"torch_op": "aten.add", "fx_node": "add_5", "line": "m.py:12: y = a + b"}})
    made.write(tmp_path / "graph.json")
    with superkernel.configure(soc="Ascend910_93"):
        read = Graph.read(tmp_path / "graph.json")
        planned = plan(read)
        data = pictures.of_scopes(read, planned)
    names = {piece.name: piece.kernel_name for piece in planned.pieces}
    assert names["t"] == names["u"]
    (tmp_path / "scope.html").write_text(pictures.page("scope", "model", data))
    shown = Shown(browser, tmp_path / "scope.html")
    # From the super kernel before the cut to the op that cuts, and on to the one after it.
    across = shown.all("path.edge.outer")
    assert len(across) == 2 and len(shown.all("path.edge")) > 2
    told = [browser.execute_script("return tips.texts.get(arguments[0].nextSibling)", edge) for edge in across]
    assert all("super kernel s_split" in text and "op3" in text for text in told)
    # Numbers along the edge, each once.
    signs = [text.text for text in shown.all(".ruler text")]
    assert len(signs) == len(set(signs)) > 5
    fills = {
        shown.all(f'.box[data-node="{name}"]')[0].value_of_css_property("fill") for name in ("t0", "t1", "u0", "u1")
    }
    assert len(fills) == 1, "equal kernels have one colour"
    shown.search("op5")
    text = shown.panel()
    assert "m.py:12: y = a + b" in text and "stream-fusion=1" in text and "aten.add" in text
    assert "inputs\ninput from output\n0 op4 0" in text and "read by\nop6" in text
    assert "is waited for by op6" in text and "waits for op4" in text
    shown.done("events-across-cuts")


def test_the_report_of_a_build(browser: webdriver.Chrome, tmp_path: Path) -> None:
    kernel = {
        "piece": "s",
        "kernel_name": "te_superkernel_0",
        "origin": "compiled",
        "ops": 3,
        "size": 123456,
        "milliseconds": 812.4,
        "stages": {"load": 2.0, "compile": 700.0, "link": 80.0},
        "waited": 2000.0,
        "warnings": ["<b>look</b>"],
        "because": [],
        "error": None,
        "picture": "x/te_superkernel_0.html",
    }
    failed = {**kernel, "piece": "t", "origin": "failed", "error": {"errId": "SK1", "message": "m", "errSolution": "s"}}
    scope = {
        "name": "s",
        "branch": "",
        "outcome": "fused",
        "members": ["a"],
        "pieces": ["s", "t"],
        "fused": 3,
        "cuts": [{"node": "c", "reason": "unmarked", "through": None}],
        "left_out": [],
    }
    estimate = {"us": 60.0, "low": 58.0, "high": 62.0}
    predicted = {
        "unfused": {**estimate, "us": 65.0},
        "fused": estimate,
        "gain": {"us": 5.0, "low": 3.0, "high": 7.0},
        "gain_percent": 7.7,
        "reasons": [{"what": "gaps between tasks", "us": 5.0}],
        "notes": [],
    }
    data = {
        "predicted": {"s": predicted},
        "prices": "defaults",
        "title": "model",
        "soc": "Ascend910_93",
        "milliseconds": 1000,
        "excluded": ["z"],
        "scope_picture": "x/scopes.html",
        "kernels": [kernel, failed],
        "scopes": [scope],
    }
    (tmp_path / "report.html").write_text(pictures.page("report", "model", json.loads(json.dumps(data))))
    shown = Shown(browser, tmp_path / "report.html")
    text = browser.find_element(By.TAG_NAME, "main").text
    assert "te_superkernel_0" in text and "121 KiB" in text and "<b>look</b>" in text and "unmarked" in text
    assert "m [SK1]. s" in text and "fused: 3 ops in 2 super kernels: s, t (failed)" in text
    assert browser.find_element(By.LINK_TEXT, "picture of the scopes").get_dom_attribute("href") == "x/scopes.html"
    # What failed comes first, in red; what was waited for is no build time; what is predicted says so.
    headings = [heading.text for heading in shown.all("h2")]
    assert headings[:3] == ["Errors", "Super kernels", "Predicted gain"]
    red = browser.execute_script("return getComputedStyle(document.body).getPropertyValue('--bad')")
    assert red and {one.get_dom_attribute("class") for one in shown.all("h2.bad, h2.bad + div")} == {"bad"}
    assert shown.all("tbody tr")[0].text.startswith("t ")
    assert "812 ms\nwaited 2000 ms" in text and "gaps between tasks +5.00" in text
    assert "65.00 us → 60.00 us, 7.7 % of 1 super kernel: predicted by the cost model, not measured (defaults)" in text
    shown.done("report")
