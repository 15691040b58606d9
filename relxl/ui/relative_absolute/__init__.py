"""The page "Relative vs absolute".

sections.py    the recorded result
live.py        the live rerun, and both kinds' terms on one text
derivation.py  from absolute to relative by steps; derivation_run.py runs it, derivation_words.py says it
"""
