"""One's own account. What allauth offers by e-mail is answered here: there is no mail."""

from django.urls import path

from annotator.accounts import views

app_name = "accounts"
urlpatterns = [
    path("account/", views.profile, name="profile"),
    path("account/tokens/", views.tokens, name="tokens"),
    path("account/tokens/<slug:key>/revoke/", views.revoke, name="revoke_token"),
    path("reset/<str:token>/", views.reset, name="reset"),
    path("accounts/password/reset/", views.forgotten, name="forgotten"),
    path("accounts/email/", views.no_mail, name="no_mail"),
]
