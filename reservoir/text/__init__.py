"""Safe text and JSON: limited in size, decoded and printable."""
