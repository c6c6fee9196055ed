"""Every registered model on MovieLens 100K, against Popularity."""
