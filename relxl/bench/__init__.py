"""Measurements that anybody can repeat: python -m relxl bench. Nothing else in relxl imports this package."""
