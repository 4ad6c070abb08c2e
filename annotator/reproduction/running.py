"""One run from claim to result: environment, sandbox, oracle. Knows no database: the ledger stands between."""

import logging
import platform
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from annotator.clients.environments.spec import Environment, Lock, NoInterpreter, NotInstalled, Spec
from annotator.clients.environments.store import interpreter_for, lock_of_image
from annotator.clients.gpu import NoGpu
from annotator.clients.sandboxes.job import Ended, How, Job, Refused, Sandbox
from annotator.clients.sandboxes.job import Limits as JobLimits
from annotator.reproduction import oracles, recipes
from annotator.reproduction.heart import Heart
from annotator.reproduction.ledger import Ledger, Result, Unreachable, Used, Work
from annotator.reproduction.matching import Needs
from annotator.reproduction.placeless import placeless
from annotator.reproduction.speaking import Speech
from annotator.reproduction.workshop import Workshop

logger = logging.getLogger(__name__)
ALWAYS = {  # what the script says is heard at once, and its seed is in its environment
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # between tries to hand in a result


def carry_out(work: Work, ledger: Ledger, workshop: Workshop, *, stop: threading.Event | None = None) -> bool:
    """Do the work and hand in what came of it; False where this attempt no longer counts.

    `stop` ends it from outside, as when the machine shuts down: then another attempt follows elsewhere.
    """
    stop = stop or threading.Event()
    with Heart(ledger, work) as heart:
        result = Attempt(work=work, ledger=ledger, workshop=workshop, heart=heart, stop=stop).result()
        return result is not None and hand_in(ledger, work, result, heart)


def hand_in(ledger: Ledger, work: Work, result: Result, heart: Heart) -> bool:
    """Again and again as long as the lease holds, where the ledger does not answer."""
    wait = FIRST_WAIT
    while not heart.is_lost:
        try:
            return ledger.result(work, result)
        except Unreachable as problem:
            logger.warning("the result of %s was not taken yet: %s", work.run[:12], problem)
            heart.lost.wait(wait)
            wait = min(2 * wait, LONGEST_WAIT)
    return False


@dataclass(kw_only=True)
class Attempt:
    work: Work
    ledger: Ledger
    workshop: Workshop
    heart: Heart
    stop: threading.Event
    recipe: recipes.Recipe = field(init=False)

    def result(self) -> Result | None:
        """None where the lease was lost on the way: nobody waits for it."""
        try:
            self.recipe = recipes.from_document(self.work.recipe)
            result = self._tried()
        except NoInterpreter as problem:
            result = Result(outcome="no_interpreter", said=self._said(problem))
        except NotInstalled as problem:
            result = Result(outcome="not_installed", said=self._said(problem), may_pass=problem.may_pass)
        except Refused as problem:
            result = Result(outcome="refused", said=f"No sandbox: {self._placeless(problem)}"[:4000])
        except NoGpu as problem:
            result = Result(outcome="no_gpu", said=self._said(problem))
        except Exception as problem:  # whatever it was, the run is not left behind
            logger.exception("run %s failed", self.work.run[:12])
            said = f"The runner failed ({type(problem).__name__}); its log says more."
            result = Result(outcome="fault", said=said, may_pass=True)
        if self.heart.is_lost:
            return None
        if self.stop.is_set() and result.outcome not in ("bug", "no_bug", "observed"):
            return Result(outcome="lost", said="The runner was stopped.", may_pass=True)
        return result

    def _said(self, problem: Exception) -> str:
        return sentence(self._placeless(problem))

    def _placeless(self, problem: Exception) -> str:
        logger.info("run %s: %s", self.work.run[:12], problem)
        return placeless(str(problem), own=self.workshop.environments.folder)

    def _tried(self) -> Result:
        asked = self.recipe.environment(self.work.environment)
        needs = Needs.of(asked, self.recipe.limits, self.work.runner)
        sandbox = self.workshop.sandbox_for(needs)
        environments = self.workshop.environments_with(sandbox)
        spec = Spec(
            python=asked.python,
            requirements=asked.requirements,
            image=asked.image,
            variables=asked.variables,
            setup=asked.setup,
        )
        lock = self._in_image(spec, sandbox) if spec.image else self._lock(spec, environments.lock)
        with environments.ready(lock, stopped=self.is_over) as environment, self._devices(needs) as devices:
            return self._ran(environment, sandbox, devices)

    def _lock(self, spec: Spec, lock: Callable[..., Lock]) -> Lock:
        """As an earlier run of the recipe locked it, or anew."""
        if not self.work.locked:
            return lock(spec, stopped=self.is_over)
        return Lock(spec=spec, interpreter=interpreter_for(spec.python), text=self.work.locked)

    def _in_image(self, spec: Spec, sandbox: Sandbox) -> Lock:
        return replace(lock_of_image(spec), image=self.work.image or sandbox.pinned(spec.image))

    def _devices(self, needs: Needs) -> Any:
        return self.workshop.devices(count=needs.gpus, memory_mb=needs.gpu_memory_mb)

    def is_over(self) -> bool:
        return self.heart.is_lost or self.stop.is_set()

    def _ran(self, environment: Environment, sandbox: Sandbox, devices: tuple[str, ...]) -> Result:
        speech = Speech(ledger=self.ledger, work=self.work)
        job = self._job(environment, devices)

        def stopped() -> bool:
            speech.pass_on()
            return self.is_over()

        ended = sandbox.run(job, heard=speech.hear, stopped=stopped)
        speech.end()
        if ended.how == How.CANCELLED:
            return Result(outcome="lost", said="It was stopped.", may_pass=True)
        return self._told(ended, environment, sandbox.name, job)

    def _job(self, environment: Environment, devices: tuple[str, ...]) -> Job:
        name = self.recipe.script.rpartition("/")[2]
        seeded = {"PYTHONHASHSEED": str(self.work.seed), "RECIPE_SEED": str(self.work.seed)}
        return Job(
            name=f"run-{self.work.run[:16]}-{self.work.attempt}",
            command=(environment.python, name),
            files={name: self.work.script.encode()},
            reads=environment.reads,
            variables=ALWAYS | seeded | dict(environment.variables),
            image=environment.image,
            limits=JobLimits(**self.recipe.limits.document()),
            devices=devices,
        )

    def _told(self, ended: Ended, environment: Environment, runner: str, job: Job) -> Result:
        seen = oracles.judge(ended, self.recipe)
        return Result(
            outcome=seen.outcome,
            said=seen.said[:4000],
            exit_code=ended.exit_code,
            seconds=ended.seconds,
            cpu_seconds=ended.cpu_seconds,
            peak_mb=ended.peak_mb,
            gpu_peak_mb=ended.gpu_peak_mb,
            stdout=oracles.text_of(ended.stdout),
            stderr=oracles.text_of(ended.stderr),
            measures={**seen.measures, "ended": ended.how.value, "runner": runner, **surroundings(), **self._gpu(job)},
            installed=dict(environment.installed),
            used=used(environment),
            input_digest=input_digest(environment, job, runner),
        )

    def _gpu(self, job: Job) -> dict[str, Any]:
        return {"gpus": self.workshop.told(job.devices)} if job.devices else {}


def used(environment: Environment) -> Used:
    lock = environment.lock
    return Used(
        python=lock.python,
        locked=lock.text,
        image=environment.image,
        variables=dict(lock.spec.variables),
        setup=tuple(lock.spec.setup),
    )


def input_digest(environment: Environment, job: Job, runner: str) -> str:
    """Of everything that went in: script, seed, exact packages, interpreter, limits, variables, sandbox."""
    return recipes.digest_of(
        {
            "environment": environment.lock.digest,
            "files": {name: content.decode() for name, content in job.files.items()},
            "command": list(job.command[1:]),
            "variables": {name: value for name, value in job.variables.items() if name not in environment.paths},
            "limits": asdict(job.limits),
            "runner": runner,
        }
    )


def surroundings() -> Mapping[str, str]:
    return {"kernel": platform.release(), "machine": platform.machine()}


def sentence(problem: str) -> str:
    text = problem.rstrip(".")[:4000]
    return f"{text[:1].upper()}{text[1:]}."
