"""Addresses of reproduction, below a study."""

from django.urls import path

from annotator.reproduction import evidence_views, host_views, recipe_views, run_views, views

app_name = "reproduction"
RECIPE = "reproduction/<int:number>"
SERIES = f"{RECIPE}/versions/<int:version>/series/<int:series>"
RUN = "reproduction/runs/<slug:key>"
urlpatterns = [
    path("reproduction/", views.list_recipes, name="recipes"),
    path("reproduction/new/", recipe_views.new, name="new"),
    path("reproduction/hosts/", host_views.hosts, name="hosts"),
    path("reproduction/hosts/<slug:name>/void/", host_views.void, name="void"),
    path("reproduction/hosts/<slug:name>/remove/", host_views.remove, name="remove_host"),
    path("reproduction/bugs/<int:bug>/", evidence_views.show, name="bug"),
    path(f"{RUN}/", run_views.show, name="run"),
    path(f"{RUN}/log/", run_views.log, name="log"),
    path(f"{RUN}/output.txt", run_views.output, name="output"),
    path(f"{RUN}/cancel/", run_views.cancel, name="cancel_run"),
    path(f"{RECIPE}/", views.show, name="recipe"),
    path(f"{RECIPE}/edit/", recipe_views.edit, name="edit"),
    path(f"{RECIPE}/run/", run_views.ask, name="ask"),
    path(f"{RECIPE}/recipe.yaml", recipe_views.file, name="file"),
    path(f"{RECIPE}/script/", recipe_views.script, name="script"),
    path(f"{RECIPE}/replay.zip", recipe_views.replay, name="replay"),
    path(f"{RECIPE}/versions/<int:version>/", recipe_views.version, name="version"),
    path(f"{SERIES}/", views.show_series, name="series"),
    path(f"{SERIES}/retry/", run_views.retry, name="retry"),
    path(f"{SERIES}/cancel/", run_views.cancel_series, name="cancel"),
]
