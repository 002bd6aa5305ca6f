"""The pictures in a real browser without a screen: Chromium, driven over its own driver."""

from __future__ import annotations

import json
import logging
import shutil
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
from superkernel import pictures
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


def test_the_report_of_a_build(browser: webdriver.Chrome, tmp_path: Path) -> None:
    kernel = {
        "piece": "s",
        "kernel_name": "te_superkernel_0",
        "origin": "compiled",
        "ops": 3,
        "size": 123456,
        "milliseconds": 812.4,
        "stages": {"load": 2.0, "compile": 700.0, "link": 80.0},
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
    data = {
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
    shown.done("report")
