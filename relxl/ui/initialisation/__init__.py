"""The page "Initialisation".

sections.py    the fresh layer, its measures, the sweep as a job
"""
