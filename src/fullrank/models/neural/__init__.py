"""Models that PyTorch trains, one a file; ``fullrank.models`` lists them."""
