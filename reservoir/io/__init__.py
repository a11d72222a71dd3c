"""Between bytes and objects: records, reservoir files, rule files, plan folders."""
