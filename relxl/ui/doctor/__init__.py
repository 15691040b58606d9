"""The page "Doctor".

sections.py    the findings
evidence.py    the numbers of one
"""
