"""Background work of the pages that cross stages."""

from celery import shared_task

from annotator.overview.flow.counting import flow_of
from annotator.overview.flow.drawing import svg_of
from annotator.overview.flow.files import keep_pdf
from annotator.studies.models import Study


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def draw_flow(study_id: int) -> bool:
    """Draw a study's flow as PDF; drawn twice it is the same. False where the study is gone."""
    from annotator.clients.renderer import pdf_of  # a large library: a worker that draws nothing does without

    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return False
    svg = svg_of(flow_of(study), title=study.title)
    keep_pdf(svg, pdf_of(svg))
    return True
