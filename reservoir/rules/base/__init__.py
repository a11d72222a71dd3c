"""What a rule is, what it may know, and how it operates a record."""
