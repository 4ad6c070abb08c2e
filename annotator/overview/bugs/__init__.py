"""The bugs of a study: lists, a bug's page, and what takes a bug's place."""
