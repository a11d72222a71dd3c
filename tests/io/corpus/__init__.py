"""Odd files and what is said of each: the text that is changed ("": the whole file), what it becomes, the message."""
