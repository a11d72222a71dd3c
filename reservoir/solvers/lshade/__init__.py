"""L-SHADE (Tanabe and Fukunaga 2014), multipopulation in OpenCL."""
