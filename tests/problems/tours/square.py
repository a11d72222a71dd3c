"""The smallest problem of TSPLIB that tests read: four cities on the corners of a rectangle."""

SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 1.5
3 2 1.5
4 2 0
EOF
"""
