"""Plans that follow changes of a reservoir file."""
