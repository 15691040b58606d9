"""The page "Shift".

sections.py    the controls and the picture
tables.py      the tables of cells
words.py       what each implementation and fault does
cost.py        what each way costs, measured as a job
"""
