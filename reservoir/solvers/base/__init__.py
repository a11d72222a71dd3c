"""What engines share: solutions, settings, launches, certification, progress."""
