"""DSMGA-II (Li and Yu 2017), which learns the linkage of bits."""
