"""Arrays in, arrays out: scaling, kernels, neighbours, linear algebra, random streams."""
