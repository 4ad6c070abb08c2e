"""Addresses of sampling, below a study."""

from django.urls import path

from annotator.sampling import views

app_name = "sampling"
urlpatterns = [
    path("sampling/", views.samples, name="samples"),
    path("sampling/new/", views.new, name="new"),
    path("sampling/<int:number>/", views.sample, name="sample"),
    path("sampling/<int:number>/again/", views.again, name="again"),
    path("sampling/<int:number>/take-up/", views.take_up, name="take_up"),
    path("sampling/<int:number>/top-up/", views.top_up, name="top_up"),
    path("sampling/bugs/<int:bug>/leave/", views.leave, name="leave"),
    path("sampling/bugs/<int:bug>/come-back/", views.come_back, name="come_back"),
]
