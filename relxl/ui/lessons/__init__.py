"""The page "Lessons".

sections.py    which lesson and step
step.py        a step: its text, figure and question
view.py        what a step looks at
figures.py     the figures that a lesson may name; charts.py are those of plotly
questions.py   the questions that a lesson may ask; questions_model.py are those about the model
asking.py      how a question is asked and judged
"""
