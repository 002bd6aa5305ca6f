"""The workflow and the Dockerfile do what `.ci/run` does. They cannot run here; their form can be checked."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import re
import tarfile
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
WORKFLOW = (ROOT / ".github" / "workflows" / "test.yml").read_text()
RELEASE = (ROOT / ".github" / "workflows" / "release.yml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_both_run_what_every_change_must_pass() -> None:
    assert "run: .ci/run" in WORKFLOW and 'CMD [".ci/run"]' in DOCKERFILE
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_scripts_and_versions_named_there_exist() -> None:
    for name in re.findall(r"scripts/[\w-]+", WORKFLOW + RELEASE):
        assert (ROOT / name).stat().st_mode & 0o111, name
    wanted = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    used = re.search(r"^FROM rust:([\d.]+)-", DOCKERFILE, re.MULTILINE)
    assert wanted and used and used[1] == wanted[1]


def test_the_container_has_what_tests_and_extras_need() -> None:
    installed = set(re.findall(r"[\w+-]+", DOCKERFILE))
    for script in ("test-packages", "extra-tools"):
        packages = re.findall(r"^ +([\w+-]+):[\w.+-]+$", (ROOT / "scripts" / script).read_text(), re.MULTILINE)
        assert packages and not set(packages) - installed, script


def test_the_release_makes_what_the_makefile_makes() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"run: make ([a-z-]+)", RELEASE)
    assert {"test", "dist"} <= set(named) <= set(targets)
    # The steps that compare the tag with the files find what the files have.
    assert re.search(r'^version = "[0-9.]+"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert re.search(r"^## [0-9.]+ \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def finish_package() -> Any:
    loader = SourceFileLoader("finish_package", str(ROOT / "scripts" / "finish-package"))
    spec = importlib.util.spec_from_loader("finish_package", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_published_packages_have_neither_dead_links_nor_folders(tmp_path: Path) -> None:
    picture = b'<picture><source srcset="a.png">\n<img src="b.png"></picture>\n\n<img alt="x" src="c.svg">\n'
    readme = b"See [the tutorial](docs/tutorial.md), [docs/cann.md](docs/cann.md#x), [`a`](https://example.org/a.md)."
    plain = b"See the tutorial (docs/tutorial.md), docs/cann.md, [`a`](https://example.org/a.md)."
    readme = picture + readme
    sbom = b'{"bom-ref": "path+file:///home/me/sk#0.3.0", "purl": "pkg:cargo/sk@0.3.0?download_url=file:///home/me/sk"}'
    wheel = tmp_path / "sk-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sk/__init__.py", b"x = '[a](b.md)'")
        archive.writestr("sk-1.dist-info/METADATA", readme)
        archive.writestr("sk-1.dist-info/sboms/sk.cyclonedx.json", sbom)
        archive.writestr("sk-1.dist-info/RECORD", b"sk/__init__.py,sha256=a,1\nsk-1.dist-info/METADATA,sha256=b,2\n")
    source = tmp_path / "sk-1.tar.gz"
    with tarfile.open(source, "w:gz") as archive:
        for name, data in (("sk-1/PKG-INFO", readme), ("sk-1/README.md", readme)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    module = finish_package()
    module.finish_wheel(wheel)
    module.finish_sdist(source)
    with zipfile.ZipFile(wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found["sk-1.dist-info/METADATA"] == plain and found["sk/__init__.py"] == b"x = '[a](b.md)'"
    assert b"/home/me" not in found["sk-1.dist-info/sboms/sk.cyclonedx.json"]
    digest = base64.urlsafe_b64encode(hashlib.sha256(plain).digest()).rstrip(b"=").decode()
    assert f"sk-1.dist-info/METADATA,sha256={digest},{len(plain)}" in found["sk-1.dist-info/RECORD"].decode()
    with tarfile.open(source) as archive:
        texts = {info.name: archive.extractfile(info).read() for info in archive.getmembers()}  # type: ignore[union-attr]
    assert texts == {"sk-1/PKG-INFO": plain, "sk-1/README.md": readme}
