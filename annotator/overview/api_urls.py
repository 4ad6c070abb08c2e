"""Addresses of what crosses stages in the REST interface."""

from django.urls import path

from annotator.overview import api, starting_api
from annotator.overview.bugs import replacing_api
from annotator.overview.changes import api as change_api
from annotator.overview.coding import codes_api, grouping_api
from annotator.overview.flow import api as flow_api
from annotator.overview.guidance import api as guidance_api
from annotator.overview.nameless import Answers
from annotator.overview.resetting import password_link
from annotator.overview.rules import api as ruling_api

app_name = "overview-api"
CHANGES = "studies/<slug:slug>/codebook/changes"
urlpatterns = [
    path("studies/", starting_api.Studies.as_view(), name="studies"),
    path("studies/<slug:slug>/members/<str:username>/password-link/", password_link, name="password-link"),
    path("studies/<slug:slug>/rounds/", api.Rounds.as_view(), name="rounds"),
    path("studies/<slug:slug>/rounds/<int:number>/close/", api.Close.as_view(), name="close"),
    path("studies/<slug:slug>/flow/", flow_api.FlowOfStudy.as_view(), name="flow"),
    path("studies/<slug:slug>/flow/flow.pdf", flow_api.Pdf.as_view(), name="flow_pdf"),
    path("studies/<slug:slug>/flow/flow.svg", flow_api.Svg.as_view(), name="flow_svg"),
    path("studies/<slug:slug>/replacements/", replacing_api.Replacements.as_view(), name="replacements"),
    path("studies/<slug:slug>/rounds/<int:number>/bugs/<int:bug>/guidance/", guidance_api.Guidance.as_view()),
    path("studies/<slug:slug>/rounds/<int:number>/codes/", codes_api.ProposedCodes.as_view(), name="codes"),
    path("studies/<slug:slug>/codebook/facets/<slug:facet>/rules/", ruling_api.PathRules.as_view(), name="rules"),
    path("studies/<slug:slug>/codebook/facets/<slug:facet>/rules/derive/", ruling_api.Derive.as_view()),
    path("studies/<slug:slug>/codebook/facets/<slug:facet>/rules/report/", ruling_api.RulesReport.as_view()),
    path("studies/<slug:slug>/codebook/facets/<slug:facet>/coding/", grouping_api.Board.as_view(), name="board"),
    path("studies/<slug:slug>/codebook/facets/<slug:facet>/codes/<slug:uid>/", grouping_api.CodeDetail.as_view()),
    path(f"{CHANGES}/", change_api.Changes.as_view(), name="changes"),
    path(f"{CHANGES}/preview/", change_api.PreviewOfChange.as_view(), name="preview_of_change"),
    path(f"{CHANGES}/<int:number>/", change_api.OneChange.as_view(), name="change"),
    path(f"{CHANGES}/<int:number>/undo/", change_api.Undo.as_view(), name="undo_change"),
    path(f"{CHANGES}/<int:number>/withdraw/", change_api.Withdraw.as_view(), name="withdraw_change"),
    path(f"{CHANGES}/<int:number>/carry-out/", change_api.CarryOut.as_view(), name="carry_out_change"),
    path(f"{CHANGES}/<int:number>/relabel/", change_api.Relabel.as_view(), name="relabel_after_change"),
    path("studies/<slug:slug>/answers/", Answers.as_view(), name="answers"),
    path("studies/<slug:slug>/events/", api.Events.as_view(), name="events"),
]
