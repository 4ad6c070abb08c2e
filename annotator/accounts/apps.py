from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "annotator.accounts"
    label = "accounts"
    verbose_name = "Accounts"
