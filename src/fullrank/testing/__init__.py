"""Contract tests for authors of plug-ins; nothing of fullrank imports them.

A test of a model, metric or split is a small class on the contract of its kind, in the module of
that name: ``recommender.RecommenderContract``, ``metric.MetricContract``, ``split.SplitContract``.
"""
