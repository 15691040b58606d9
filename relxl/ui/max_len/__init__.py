"""The page "Max len".

sections.py    the wall and the picture
table.py       the rows of the position table
losses.py      what lengths beyond the training cost: recorded, and measured as a job
"""
