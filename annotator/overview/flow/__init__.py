"""From found to released."""
