# SPDX-License-Identifier: MIT
"""Recipes for runs on several machines, and templates for CI: each shard once, results where they are looked for.

What they start is a program that notes how it was called.  "make check-recipes" runs those that need no
cluster of somebody else's.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE
from zvmlab.base.results import NAME
from zvmlab.base.tree import TREE

SHARDS = TREE / "examples/shards"
CI = TREE / "examples/ci"
SECONDS = 60
# Notes how it is called; writes results if FINDS has some, and ends with STATUS.
FAKE = f"""#!/bin/sh
echo "$@" >>"$NOTES"
while [ $# -gt 1 ]; do
    if [ "$1" = --output ]; then output=$2; fi
    shift
done
mkdir -p "$output"
if [ -n "${{FINDS-}}" ]; then echo "$FINDS" >"$output/{NAME}"; fi
exit "${{STATUS-0}}"
"""
FINISHED = '{"finished": 3}'
NAME_OF_IT = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}
POSITIVE = {"type": "integer", "minimum": 1}
WORDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
QUANTITY = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(m|[KMGT]i?)?$"}
RESOURCES = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"requests": {"type": "object", "additionalProperties": QUANTITY}},
}


def _closed(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {
        **{"type": "object", "additionalProperties": False},
        **{"required": list(required), "properties": properties},
    }


METADATA = _closed(("name",), name=NAME_OF_IT)
_CONTAINER = _closed(
    ("name", "image", "command"),
    name=NAME_OF_IT,
    image={"type": "string"},
    workingDir={"type": "string", "pattern": "^/"},
    command=WORDS,
    env={
        "type": "array",
        # A value that is no string, such as a number without quotes, is refused.
        "items": _closed(("name", "value"), name={"type": "string"}, value={"type": "string"}),
    },
    resources=RESOURCES,
    volumeMounts={
        "type": "array",
        "items": _closed(
            ("name", "mountPath"), name={"type": "string"}, mountPath={"type": "string"}
        ),
    },
)
_POD = _closed(
    ("containers", "restartPolicy"),
    restartPolicy={"enum": ["Never", "OnFailure"]},  # a Job's pod must not be "Always"
    containers={"type": "array", "items": _CONTAINER, "minItems": 1},
    volumes={
        "type": "array",
        "items": _closed(
            ("name", "persistentVolumeClaim"),
            name={"type": "string"},
            persistentVolumeClaim=_closed(("claimName",), claimName={"type": "string"}),
        ),
    },
)
# The fields of batch/v1 and v1 that the files use, as Kubernetes' reference has them; no others.
SCHEMAS: dict[str, dict[str, Any]] = {
    "Job": _closed(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": "batch/v1"},
        kind={},
        metadata=METADATA,
        spec=_closed(
            ("template",),
            completionMode={"enum": ["NonIndexed", "Indexed"]},
            completions=POSITIVE,
            parallelism=POSITIVE,
            backoffLimit={"type": "integer", "minimum": 0},
            activeDeadlineSeconds=POSITIVE,
            template=_closed(("spec",), spec=_POD),
        ),
    ),
    "PersistentVolumeClaim": _closed(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": "v1"},
        kind={},
        metadata=METADATA,
        spec=_closed(
            ("accessModes", "resources"),
            accessModes={
                "type": "array",
                "items": {"enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"]},
            },
            resources=RESOURCES,
        ),
    ),
}


class Called:
    """A folder with a zvmlab that notes how it is called."""

    def __init__(self, folder: Path, program: str = "zvmlab") -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "NOTES": str(self.notes)}
        (folder / "bin").mkdir()
        self.program(program, FAKE)

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def run(self, *argv: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.folder,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def calls(self) -> list[list[str]]:
        return [line.split() for line in self.notes.read_text().splitlines()]


@pytest.fixture(name="called")
def _called(tmp_path: Path) -> Called:
    return Called(tmp_path)


def _all_of(shards: Sequence[str]) -> None:
    """Each shard of that many, once."""
    assert list(shards) == [f"{number}/{len(shards)}" for number in range(1, len(shards) + 1)]


def _option(call: Sequence[str], name: str) -> str:
    return call[call.index(name) + 1]


def _documents(name: str) -> dict[str, dict[str, Any]]:
    found = list(yaml.safe_load_all((SHARDS / name).read_text()))
    return {f"{one['kind']} {one['metadata']['name']}": one for one in found}


def _container(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return container, {variable["name"]: variable["value"] for variable in container["env"]}


@pytest.mark.parametrize("name", ("kubernetes.yaml", "kubernetes-merge.yaml"))
def test_manifests_have_what_kubernetes_knows(name: str) -> None:
    """And a field that it does not know, or a wrong type, would be noticed."""
    for document in _documents(name).values():
        schema = SCHEMAS[document["kind"]]
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(document, schema)
        harms: list[dict[str, Any]] = [{"completionsMode": "Indexed"}, {"template": []}]
        for harm in harms:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({**document, "spec": {**document["spec"], **harm}}, schema)


def test_pods_run_each_shard_once_and_the_merge_finds_them(called: Called) -> None:
    """Their commands, run by a shell as a container would, with the index that Kubernetes gives each."""
    documents = _documents("kubernetes.yaml") | _documents("kubernetes-merge.yaml")
    sweep, merge = documents["Job zvmlab-sweep"], documents["Job zvmlab-merge"]
    assert sweep["spec"]["completionMode"] == "Indexed"
    container, env = _container(sweep)
    count = sweep["spec"]["completions"]
    assert env["SHARDS"] == str(count)
    assert env["RESULTS"] in [mount["mountPath"] for mount in container["volumeMounts"]]
    env["RESULTS"] = str(called.folder / "results")
    for index in range(count):
        more = {"JOB_COMPLETION_INDEX": str(index), "FINDS": FINISHED, "STATUS": str(index % 2)}
        assert called.run(*container["command"], **env, **more).returncode == EXIT_PASS
    _all_of([_option(call, "--shard") for call in called.calls()])
    assert all("--seed" in call and "--fresh" in call for call in called.calls())
    written = {f"{_option(call, '--output')}/{NAME}" for call in called.calls()}
    other, its_env = _container(merge)
    assert (its_env["SHARDS"], its_env["RESULTS"]) == (str(count), "/results")
    assert (
        other["volumeMounts"] == container["volumeMounts"] and other["image"] == container["image"]
    )
    volumes = [job["spec"]["template"]["spec"]["volumes"] for job in (sweep, merge)]
    assert volumes[0] == volumes[1]
    claim = volumes[0][0]["persistentVolumeClaim"]["claimName"]
    assert f"PersistentVolumeClaim {claim}" in documents
    assert called.run(*other["command"], **{**its_env, "RESULTS": env["RESULTS"]}).returncode == 0
    last = called.calls()[-1]
    assert last[0] == "merge" and set(last[1 : last.index("--output")]) == written


@pytest.mark.parametrize("finds", ("", '{"case": "x"}'))
def test_pod_whose_sweep_did_not_end_fails(called: Called, finds: str) -> None:
    """So Kubernetes runs it again; what an earlier run has left there does not count."""
    container, env = _container(_documents("kubernetes.yaml")["Job zvmlab-sweep"])
    old = called.folder / f"results/1-of-{env['SHARDS']}"
    old.mkdir(parents=True)
    (old / NAME).write_text(FINISHED)
    more = {"RESULTS": str(called.folder / "results"), "JOB_COMPLETION_INDEX": "0"}
    done = called.run(*container["command"], **{**env, **more}, FINDS=finds, STATUS="1")
    assert done.returncode != EXIT_PASS


# As far as slurm.sh uses it: an array is run at once, one after the other.
SBATCH = """#!/bin/sh
echo sbatch "$@" >>"$NOTES"
for word; do
    case $word in
    --array=1-*) last=${word#--array=1-} ;;
    --output=*) output=${word#--output=} ;;
    -*) ;;
    *) break ;;
    esac
    shift
done
SLURM_JOB_ID=7; export SLURM_JOB_ID
if [ -n "${last-}" ]; then
    for SLURM_ARRAY_TASK_ID in $(seq "$last"); do
        export SLURM_ARRAY_TASK_ID
        "$@" >"task-$SLURM_ARRAY_TASK_ID.log" 2>&1
    done
    echo "7;cluster"
else
    "$@" >"$output" 2>&1
fi
"""


@pytest.mark.parametrize("status", ("0", "1"))
def test_slurm_array_has_each_shard_once(called: Called, status: str) -> None:
    """The merge waits for all tasks, however they ended, and its exit code is the whole's."""
    called.program("bin/sbatch", SBATCH)
    words = ("3", "my.py:one", "--seed", "7", "--point", "iucv.*")
    done = called.run(SHARDS / "slurm.sh", *words, STATUS=status, FINDS=FINISHED)
    assert done.returncode == int(status)
    array, *sweeps, second, merge = called.calls()
    assert "--array=1-3" in array and "--requeue" in array
    assert "--dependency=afterany:7" in second and "--wait" in second
    _all_of([_option(call, "--shard") for call in sweeps])
    assert {tuple(call[:6]) for call in sweeps} == {("sweep", *words[1:])}
    written = {f"{_option(call, '--output')}/{NAME}" for call in sweeps}
    assert merge[0] == "merge" and set(merge[1:-2]) == written


# Notes what it would have run; the words of the command by a shell.
PARALLEL = """#!/bin/sh
echo parallel $(cat) -- "$@" >>"$NOTES"
for command; do :; done
sh -c "$command" >hosts.log 2>&1 || true
"""


def test_parallel_runs_what_is_lost(called: Called) -> None:
    """All shards; with --again those without an end.  Whatever parallel says, the merge judges."""
    called.program("bin/parallel", PARALLEL)
    for number, text in ((1, FINISHED), (2, '{"case": "x"}')):
        (called.folder / f"zvmlab-sweep/one-{number}-of-3").mkdir(parents=True)
        (called.folder / f"zvmlab-sweep/one-{number}-of-3" / NAME).write_text(f"{text}\n")
    words = ("3", "a,b", "one", "--seed", "7", "--point", "iucv.*", "--params", "it's one")
    runs: list[tuple[list[str], list[str]]] = [(["--again"], ["2", "3"]), ([], ["1", "2", "3"])]
    for again, wanted in runs:
        called.notes.unlink(missing_ok=True)
        done = called.run(SHARDS / "parallel.sh", *again, *words, STATUS="1")
        assert done.returncode == EXIT_FAILED
        ran, sweep, merge = called.notes.read_text().splitlines()
        assert ran.startswith(f"parallel {' '.join(wanted)} -- ")
        assert "--sshlogin a,b" in ran
        assert sweep.startswith("sweep one --seed 7 --point iucv.* --params it's one --fresh --sh")
        assert merge.startswith("merge zvmlab-sweep/one-") and merge.endswith("zvmlab-sweep/one")


@pytest.mark.parametrize("name", ("parallel.sh", "slurm.sh"))
def test_scripts_say_how_they_are_used(called: Called, name: str) -> None:
    done = called.run(SHARDS / name, "3")
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith(f"usage: {name} ") and done.stderr.count("\n") == 1
    assert not called.notes.exists()


def _steps(job: dict[str, Any], uses: str) -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(f"{uses}@")]


def test_github_runs_each_shard_once_and_merges_them(tmp_path: Path) -> None:
    """Artefacts have names of their own; the last job fetches all, whatever became of the tests."""
    jobs = yaml.safe_load((CI / "github.yml").read_text())["jobs"]
    test, merge = jobs["test"], jobs["merge"]
    (numbers,) = test["strategy"]["matrix"].values()
    assert test["strategy"]["fail-fast"] is False
    (run,) = (step["run"] for step in test["steps"] if "--shard" in step.get("run", ""))
    told = run.replace("${{ strategy.job-total }}", str(len(numbers)))
    shards = [told.replace("${{ matrix.shard }}", str(number)).split() for number in numbers]
    _all_of([_option(words, "--shard") for words in shards])
    folder = _option(shards[0], "--zvmlab-report")
    assert _option(shards[0], "--junitxml") == f"{folder}/junit.xml"
    (upload,) = _steps(test, "actions/upload-artifact")
    assert upload["if"] == "always()"
    assert upload["with"] == {"name": "report-${{ matrix.shard }}", "path": folder}
    assert merge["needs"] == "test" and merge["if"] == "always()"
    (download,) = _steps(merge, "actions/download-artifact")
    assert download["with"] == {"pattern": "report-*"}
    (junit,) = _steps(merge, "mikepenz/action-junit-report")
    assert junit["with"]["report_paths"] == "report-*/junit.xml" and junit["if"] == "always()"
    (script,) = (step["run"] for step in merge["steps"] if "zvmlab merge" in step.get("run", ""))
    called = Called(tmp_path, "zvmlab/zvmlab")
    for number in numbers:
        (tmp_path / f"report-{number}").mkdir()
    summary = tmp_path / "summary"
    done = called.run("sh", "-e", "-c", script, GITHUB_STEP_SUMMARY=str(summary), STATUS="1")
    assert done.returncode == EXIT_FAILED and summary.read_text().count("```") == 2
    assert called.calls() == [
        ["merge", *(f"report-{number}" for number in numbers), "--output", "report"]
    ]


@pytest.mark.parametrize("path", (CI / "github.yml", TREE / "ci/github.yml"))
def test_github_keeps_the_cache_under_the_name_of_what_is_in_it(path: Path) -> None:
    """The folder that zvmlab is told of is the one that is kept, also within a container."""
    text = path.read_text()
    for job in yaml.safe_load(text)["jobs"].values():
        for cache in _steps(job, "actions/cache"):
            before = [step.get("run", "") for step in job["steps"][: job["steps"].index(cache)]]
            assert any(
                '"ZVMLAB_CACHE=$GITHUB_WORKSPACE/.cache" >> "$GITHUB_ENV"' in run for run in before
            )
            assert cache["with"]["path"] == ".cache"
            key = cache["with"]["key"]
            (entry,) = re.findall(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", key)
            (step,) = (step for step in job["steps"] if step.get("id") == entry[0])
            assert f'"{entry[1]}=$(' in step["run"] and "zvmlab build --entry" in step["run"]
            assert key.startswith(cache["with"]["restore-keys"])
    assert text.count("actions/cache@") == 1 and "${{ github.workspace }}" not in text


def test_gitlab_runs_each_shard_once_and_merges_them() -> None:
    found = yaml.safe_load((CI / "gitlab.yml").read_text())
    test, merge = found["zvmlab"], found["zvmlab-merge"]
    shards = []
    for number in range(1, test["parallel"] + 1):
        script = " ".join(test["script"]).replace("$CI_NODE_INDEX", str(number))
        words = script.replace("$CI_NODE_TOTAL", str(test["parallel"])).split()
        shards.append(_option(words, "--shard"))
        assert _option(words, "--zvmlab-report") == f"report-{number}"
        assert _option(words, "--junitxml") == f"report-{number}/junit.xml"
    _all_of(shards)
    assert test["artifacts"]["reports"]["junit"] == "report-*/junit.xml"
    assert test["artifacts"]["paths"] == ["report-*"] and test["artifacts"]["when"] == "always"
    assert found["stages"].index(test["stage"]) < found["stages"].index(merge["stage"])
    assert merge["when"] == "always"
    assert merge["script"] == ["zvmlab/zvmlab merge report-* --output report"]
    # The folder that zvmlab is told of is the one that is kept.
    assert found["variables"]["ZVMLAB_CACHE"] == "$CI_PROJECT_DIR/.cache"
    assert test["cache"]["paths"] == [".cache"] and "$ZVMLAB_VERSION" in test["cache"]["key"]


PLAN = _closed(
    ("summary", "discover", "execute"),
    summary={"type": "string", "minLength": 1, "maxLength": 50},
    description={"type": "string"},
    provision=_closed(("how",), how={"enum": ["container"]}, image={"type": "string"}),
    prepare=_closed(("how", "script"), how={"const": "shell"}, script={"type": "string"}),
    execute=_closed(("how",), how={"const": "tmt"}),
    discover=_closed(
        ("how", "tests"),
        how={"const": "shell"},
        tests={
            "type": "array",
            "items": _closed(
                ("name", "summary", "test"),
                name={"type": "string"},
                summary={"type": "string", "minLength": 1, "maxLength": 50},
                test={"type": "string"},
                duration={"type": "string", "pattern": "^[0-9]+[smhd]$"},
            ),
        },
    ),
)


def test_plans_of_tmt() -> None:
    """What a plan inherits and what it has, by the fields that tmt knows; their targets are there."""
    assert (TREE / ".fmf/version").read_text() == "1\n"
    read = yaml.safe_load((TREE / "plans/main.fmf").read_text())
    shared = {key: value for key, value in read.items() if not key.startswith("/")}
    plans = {key: {**shared, **value} for key, value in read.items() if key.startswith("/")}
    makefile = (TREE / "Makefile").read_text()
    ran = []
    for plan in plans.values():
        jsonschema.validate(plan, PLAN)
        for test in plan["discover"]["tests"]:
            ran += re.findall(r"\bmake ([a-z-]+)", test["test"])
    assert ran == ["demo", "check"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in ran)


@pytest.mark.parametrize("whole", [True, False], ids=["new-clone", "built-in"])
def test_plans_refuse_a_tree_that_tmt_has_thinned(tmp_path: Path, whole: bool) -> None:
    """Where a folder build was made, tmt leaves out the one of the harness as well."""
    script = yaml.safe_load((TREE / "plans/main.fmf").read_text())["prepare"]["script"]
    called = Called(tmp_path)
    called.program("bin/apt-get", '#!/bin/sh\necho "apt-get $*"\n')
    assert (TREE / "harness/zvmlab/builder").is_dir()
    if whole:
        (tmp_path / "harness/zvmlab/builder").mkdir(parents=True)
    done = called.run("sh", "-e", "-c", script)
    said = done.stdout.splitlines()
    if whole:
        assert (done.returncode, said[0]) == (0, "apt-get update")
    else:
        assert done.returncode == 1
        assert len(said) == 1 and said[0].endswith(
            "run it in a new clone, which has no such folder"
        )


def test_plan_keeps_the_report_and_the_exit_code(tmp_path: Path) -> None:
    """Of the tests, also when some have failed."""
    plan = yaml.safe_load((TREE / "plans/main.fmf").read_text())["/check"]
    (test,) = plan["discover"]["tests"]
    called = Called(tmp_path)
    called.program(
        "bin/make", "#!/bin/sh\nmkdir -p build/report; touch build/report/report.tap; exit 2\n"
    )
    (tmp_path / "data").mkdir()
    done = called.run("sh", "-e", "-c", test["test"], TMT_TEST_DATA=str(tmp_path / "data"))
    assert done.returncode == 2
    assert (tmp_path / "data/report/report.tap").exists()
