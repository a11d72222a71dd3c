"""Dynamic programming over storage, refined around the best trajectory."""
