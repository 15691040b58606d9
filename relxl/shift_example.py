import torch

import relxl


def transformer_xl(x):  # [query column batch head], as in the original code
    query_len, columns = x.shape[:2]
    padded = torch.cat([x.new_zeros(query_len, 1, *x.shape[2:]), x], dim=1)
    return padded.view(columns + 1, query_len, *x.shape[2:])[1:].view_as(x)


def mine(x):  # rolls every row alike
    return x.roll(1, dims=1)


def name_it(shift):
    axes = "query column batch head"
    found = relxl.identify_shift(shift, query_len=3, key_len=5, layout=axes)
    wrong = found.wrong_cells
    return f"{shift.__name__}: {found.name}, {len(wrong)} of 15 cells wrong: {wrong[:3]} ..."


if __name__ == "__main__":
    print(name_it(transformer_xl), name_it(mine), sep="\n")
