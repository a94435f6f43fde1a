"""What the ``latimer`` command does where that is more than a call or two."""
