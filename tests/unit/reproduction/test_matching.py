"""Which machine takes what."""

import pytest

from annotator.reproduction.matching import Can, Needs, against, runner_for

HERE = Can(pythons=["3.8.18", "3.11.7"], memory_mb=8000, runners={"local": "", "docker": "no daemon answers."})
GPU = Can(pythons=["3.8.18"], memory_mb=8000, runners={"local": ""}, gpus=2, gpu_free_mb=[2000, 40_000])


@pytest.mark.parametrize(
    ("needs", "can", "outcome"),
    [
        (Needs(python="3.8", memory_mb=2000), HERE, None),
        (Needs(python="3.8.18"), HERE, None),
        (Needs(python="/usr/bin/python3"), HERE, None),
        (Needs(python="3.1"), HERE, "no_interpreter"),
        (Needs(python="3.8.1"), HERE, "no_interpreter"),
        (Needs(python="3.9"), HERE, "no_interpreter"),
        (Needs(python="3.8", memory_mb=9000), HERE, "refused"),
        (Needs(python="3.8", runner="docker"), HERE, "refused"),
        (Needs(python="3.8", runner="slurm"), HERE, "refused"),
        (Needs(image="python:3.8"), HERE, "refused"),
        (Needs(python="3.8", gpus=1), HERE, "no_gpu"),
        (Needs(python="3.8", gpus=1, gpu_memory_mb=30_000), GPU, None),
        (Needs(python="3.8", gpus=1, gpu_memory_mb=80_000), GPU, "no_gpu"),
        (Needs(python="3.8"), Can(), "refused"),
    ],
)
def test_what_a_machine_takes(needs, can, outcome):
    reason = against(needs, can)
    assert (reason.outcome if reason else None) == outcome
    assert reason is None or reason.said.endswith(".")


def test_the_hint_names_what_is_there():
    assert "(there is 3.8.18, 3.11.7)" in against(Needs(python="3.9"), HERE).said
    assert "no daemon answers" in against(Needs(python="3.8", runner="docker"), HERE).said


def test_an_image_wants_a_container_engine_and_else_the_first_that_works_is_taken():
    both = Can(runners={"local": "", "docker": ""})
    assert [runner_for(Needs(image="x"), both), runner_for(Needs(), both), runner_for(Needs(), HERE)] == [
        "docker", "local", "local",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "told", [{}, {"pythons": "3.8", "memory_mb": "lots", "gpus": -1, "runners": []}, {"gpu_free_mb": [True, None]}]
)
def test_what_a_host_says_badly_counts_as_not_there(told):
    can = Can.of(told)
    assert against(Needs(python="3.8"), can).outcome == "refused" and can.gpus == 0


def test_it_is_the_same_after_a_journey():
    assert Can.of(GPU.document()) == GPU
