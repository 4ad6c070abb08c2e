"""Where every address leads: pages at the root, the REST interface below `api/v1/`, a study's pages below its slug."""

from django.urls import include, path

api = [
    path("", include("annotator.web.api_urls")),
    path("", include("annotator.accounts.api_urls")),
    path("", include("annotator.overview.api_urls")),
    path("", include("annotator.studies.api_urls")),
    path("", include("annotator.codebook.api_urls")),
    path("", include("annotator.collection.api_urls")),
    path("", include("annotator.screening.api_urls")),
    path("", include("annotator.sampling.api_urls")),
    path("", include("annotator.labeling.api_urls")),
    path("", include("annotator.agreement.api_urls")),
    path("", include("annotator.adjudication.api_urls")),
    path("", include("annotator.reproduction.api_urls")),
    path("", include("annotator.analysis.api_urls")),
    path("", include("annotator.publication.api_urls")),
    path("", include("annotator.intake.api_urls")),
]
of_a_study = [
    path("", include("annotator.codebook.urls")),
    path("", include("annotator.collection.urls")),
    path("", include("annotator.screening.urls")),
    path("", include("annotator.sampling.urls")),
    path("", include("annotator.labeling.urls")),
    path("", include("annotator.agreement.urls")),
    path("", include("annotator.adjudication.urls")),
    path("", include("annotator.reproduction.urls")),
    path("", include("annotator.analysis.urls")),
    path("", include("annotator.publication.urls")),
    path("", include("annotator.intake.urls")),
]
urlpatterns = [
    path("", include("annotator.web.urls")),
    path("", include("annotator.accounts.urls")),
    path("", include("annotator.overview.urls")),
    path("", include("annotator.studies.urls")),
    path("api/v1/", include(api)),
    path("accounts/", include("allauth.urls")),  # after ours, which answer what would need mail
    path("<slug:slug>/", include(of_a_study)),
]
