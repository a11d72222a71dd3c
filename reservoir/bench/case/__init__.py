"""The case study of Yu et al. 2020 on a reservoir."""
