"""The page "Memory".

sections.py    what crosses the seam
losses.py      what memory saves, and how much of it is enough
collision.py   absolute positions across segments
cost.py        what an evaluated token costs with memory and without
"""
