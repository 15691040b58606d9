"""Experiments: what a choice does to a model, measured. Pure functions; whoever calls them decides where they run.

init_scale        how large each term is at the start, by formula and as drawn, and what the softmax makes of it
init_sweep        the same for many scales, seeds and lengths: items that any executor can map
init_training     models of several initial scales trained side by side, and how much a loss oscillates
cost              the explicit position tensor beside the table projected first: bytes by formula, and measured
max_len           what a max_len does to a score matrix and to a table: distances, the wall, the rows that were trained
max_len_losses    what a trained model loses or gains beyond the training length, by how its positions are read
max_len_variants  the ways of running a model that are compared, by name
memory            a text read segment by segment, and what a shorter memory costs
max_len_cli       the command `sweep max-len`
relative_absolute the same model with relative and absolute positions, trained on the same batches; to be watched too
"""
