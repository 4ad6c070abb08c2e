"""REST addresses of reproduction."""

from django.urls import path

from annotator.reproduction import api, runner_api

app_name = "reproduction-api"
STUDY = "studies/<slug:slug>"
RECIPE = f"{STUDY}/recipes/<int:number>"
SERIES = f"{RECIPE}/versions/<int:version>/series/<int:series>"
RUN = f"{STUDY}/runs/<slug:key>"
urlpatterns = [
    path(f"{STUDY}/recipes/", api.Recipes.as_view()),
    path(f"{STUDY}/bugs/<int:bug>/recipe-proposal/", api.Proposal.as_view()),
    path(f"{RECIPE}/", api.OneRecipe.as_view()),
    path(f"{RECIPE}/replay/", api.Replay.as_view()),
    path(f"{RECIPE}/versions/<int:version>/", api.OneVersion.as_view()),
    path(f"{RECIPE}/versions/<int:version>/replay/", api.ReplayOfVersion.as_view()),
    path(f"{RECIPE}/series/", api.AllSeries.as_view()),
    path(f"{SERIES}/", api.OneSeries.as_view()),
    path(f"{SERIES}/retry/", api.Retry.as_view()),
    path(f"{SERIES}/cancel/", api.CancelSeries.as_view()),
    path(f"{RUN}/", api.OneRun.as_view()),
    path(f"{RUN}/log/", api.RunLog.as_view()),
    path(f"{RUN}/lines/", api.RunLines.as_view()),
    path(f"{RUN}/cancel/", api.CancelRun.as_view()),
    path(f"{STUDY}/hosts/", api.Hosts.as_view()),
    path(f"{STUDY}/hosts/<slug:name>/", api.OneHost.as_view()),
    path(f"{STUDY}/hosts/<slug:name>/void/", api.VoidRuns.as_view()),
    path("runner/claim/", runner_api.Claim.as_view()),
    path("runner/renew/", runner_api.Renew.as_view()),
    path("runner/log/", runner_api.WriteLog.as_view()),
    path("runner/result/", runner_api.TakeResult.as_view()),
]
