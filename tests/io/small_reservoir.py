"""A small reservoir's file, for tests to change."""

SMALL = """\
name = "small"
first_month = 1

[plant]
installed_capacity_mw = 30
output_coefficient = 8.3
hydraulic_capacity_m3s = 45

[marks]
normal_m = 445

[storage]
dead_hm3 = 20
full_hm3 = 120
year_end = "fixed"
initial_hm3 = 110

[release]
lower_m3s = 4
upper_m3s = [80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80]

[curves.level]
kind = "table"
storage_hm3 = [10, 20, 40, 60, 80, 100, 120, 130]
level_m = [405, 412, 422, 429, 435, 440.2, 445, 447.2]

[curves.tailrace]
kind = "power"
offset_m = 362
factor = 0.16
exponent = 0.6
"""
LEVEL = SMALL[SMALL.index("[curves.level]") : SMALL.index("[curves.tailrace]")]
TAILRACE = SMALL[SMALL.index("[curves.tailrace]") :]
