"""Write files and folders completely or not at all."""
