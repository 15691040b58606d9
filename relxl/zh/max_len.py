"""Chinese texts of the page "Max len"."""

TEXTS = {
    "**Absolute positions have no wall:** each token gets the vector of its own place before the first layer, so no "
    "distance is looked up and none can be clamped; what fails is a place that training never had. Choose a "
    "relative checkpoint to move the wall.": (
        "**绝对位置没有墙**：每个 token 在第一层之前就加上自己所在位置的向量，不查任何距离，也就没有什么可截断；失灵"
        "的是训练时从未有过的位置。请选一个相对位置的检查点来移动这道墙。"
    ),
    "**Cells of this encoding have no wall of their own:** ESPnet’s legacy form takes the first rows of a table of "
    "{length}, so a cell of the past reads m + i − j + {ahead}, and one of the future what is left over of another "
    "query’s row. If the model was trained with “latest”, choose that on the page Checkpoint.": (
        "**这种编码的格子没有自己的墙**：ESPnet 的 legacy 形式取一张长 {length} 的表的前若干行，所以过去的格子读的是 "
        "m + i − j + {ahead}，未来的格子读的是另一个查询行的残余。如果模型是用“latest”训练的，请在“检查点”页改选它。"
    ),
    "Wall at {n}": "墙在 {n}",
    "Only itself and the rest": "只分自己与其余",
    "No wall": "没有墙",
    "Direction flipped": "方向颠倒",
    "Wall at the training length, in a longer text": "墙在训练长度，文本更长",
    "no wall": "没有墙",
    "A table of max_len n tells n − 1 apart; a sinusoid with clamp_len c tells c apart.": (
        "max_len 为 n 的表能区分 n − 1 个距离；clamp_len 为 c 的正弦能区分 c 个。"
    ),
    "Largest distance told apart": "能区分的最大距离",
    "One token has no distance to tell apart: give a longer text.": "只有一个 token，没有距离可区分：请给更长的文本。",
    "Row of": "来自哪一行",
    "scores as they are": "原来的得分",
    "difference": "差",
    "probability as it is": "原来的概率",
    "probability moved, |then − as it is|": "概率变动，|改后 − 原来|",
    "probability then": "改后的概率",
    "scores, direction flipped": "得分，方向颠倒",
    "scores without a wall": "得分，没有墙",
    "scores, wall at {n}": "得分，墙在 {n}",
    "{head}: there is no wall.": "{head}：没有墙。",
    "Queries see the distances {smallest} to {largest}.": "查询看到的距离为 {smallest} 到 {largest}。",
    "**{beyond} of {cells}** visible cells lie beyond {wall}, in {which}.": (
        "**{cells} 个可见格子中有 {beyond} 个**超出{wall}，涉及{which}。"
    ),
    "the wall at {n}": "距离 {n} 处的墙",
    "the end of the model’s own reach, {n}, as they do already without any wall": (
        "模型自身的尽头 {n}（不设墙也是如此）"
    ),
    "{n} queries": "{n} 个查询",
    "{n} queries, from {first} on": "从 {first} 起的 {n} 个查询",
    "all {n} queries": "全部 {n} 个查询",
    "The model sees both sides, so a wall stands on either.": "模型两边都看，所以两边各有一道墙。",
    "**Nothing changes:** every score of {head} is bit-equal.": "**什么都没变**：{head} 的每个得分逐比特相等。",
    "In {head} a probability changes by up to **{moved}** (query {query}, key {key}).": (
        "在 {head} 里，概率最多变动 **{moved}**（查询 {query}，键 {key}）。"
    ),
    "So is the model’s loss on this text, {loss:.3f} nats per token.": (
        "模型在这段文本上的损失也是如此，{loss:.3f} nat/token。"
    ),
    "With every layer read so, the loss on this text goes from {before:.3f} to **{after:.3f}** nats per token.": (
        "如果每一层都这样读，这段文本上的损失从 {before:.3f} 变为 **{after:.3f}** nat/token。"
    ),
    "The article calls i − j and j − i “only transposes”; with a trained model they are different vectors.": (
        "文章说 i − j 和 j − i“只是互为转置”；对训练好的模型来说，它们是不同的向量。"
    ),
    "as trained": "照训练时的方式",
    "clamped at the training": "在训练长度处截断",
    "far keys unseen": "看不到远处的键",
    "table interpolated": "对表插值",
    "interpolated, near kept": "插值，保留近处",
    "Beyond the training length, recorded": "超出训练长度，已记录的结果",
    "The recorded result is not here yet: this command writes it, in about half an hour.": (
        "这里还没有记录的结果：运行下面的命令即可生成，约需半小时。"
    ),
    "all, as trained": "全部，照训练",
    "Model": "模型",
    "Memory, tokens": "记忆（token）",
    "Segment at the right, tokens": "右图的片段长度（token）",
    "{scored} characters of {text}, the same for every curve, memory full. A band is two standard errors of the "
    "change against the model’s own training length, character by character.": (
        "{text} 的 {scored} 个字符，每条曲线都相同，记忆是满的。色带是相对模型自身训练长度的变化的两个标准误，逐字符"
        "计算。"
    ),
    "Loss against the position in segments of {n} tokens.": "{n} 个 token 的片段内，损失随位置的变化。",
    ", {n:g} times the training’s": "（训练长度的 {n:g} 倍）",
    "{n} tokens": "{n} 个 token",
    "In segments of {where}, **{name}** has a loss of **{loss}**": "在 {where}的片段里，**{name}** 的损失为 **{loss}**",
    ", {change} against its own training length": "，相对自身训练长度 {change}",
    "; not to be told apart from: {names}": "；与它分不出高下的有：{names}",
    "; the highest is {name} with {loss}": "；最高的是 {name}，为 {loss}",
    "*The article: relative positions extrapolate better than absolute ones.* In segments of {n} {verdict}: "
    "{learned} for the learned table, {absolute} for the absolute model, each against its own training length.": (
        "*文章：相对位置的外推优于绝对位置*。在长 {n} 的片段里，{verdict}：可学习的表 {learned}，绝对位置的模型 "
        "{absolute}，都相对各自的训练长度。"
    ),
    "that does not show": "看不出这一点",
    "that holds": "的确如此",
    "it makes no difference that can be seen": "看不出区别",
    "it helps": "有帮助",
    "it hurts": "有害",
    "*The article: interpolate the position table.* Without further training {verdict}: {stretched} interpolated, "
    "{learned} with the last row shared.": (
        "*文章：对位置表插值*。不再训练的话，{verdict}：插值 {stretched}，共用最后一行 {learned}。"
    ),
    "Near distances kept: {near}. Far keys not seen at all: {window}.": (
        "保留近处距离：{near}。完全不看远处的键：{window}。"
    ),
    "Measure it on the loaded checkpoint": "在当前检查点上测量",
    "The text that this checkpoint was trained on is not in the folder data, so there is nothing.": (
        "文件夹 data 里没有这个检查点的训练文本，所以没有可测的。"
    ),
    "{name}: segments of {lengths}, memory {memory}, {n} characters of {text}": (
        "{name}：片段 {lengths}，记忆 {memory}，{text} 的 {n} 个字符"
    ),
    "(d) v_bias: what the wall cuts off": "(d) v_bias：墙截掉了什么",
    "v_bias of {head} over the distances {smallest} to {largest}.": "{head} 的 v_bias，距离 {smallest} 到 {largest}。",
    "wall": "墙",
    "wall at the training": "训练长度处的墙",
    "Beyond the wall at {n} one value stands for a range that is {lost} of the curve’s.": (
        "在 {n} 处的墙之外，一个值代替了整条曲线 {lost} 的范围。"
    ),
    "Beyond the walls at ±{n} one value a side stands for a range of up to {lost} of the curve’s.": (
        "在 ±{n} 处的墙之外，每边一个值，代替了整条曲线至多 {lost} 的范围。"
    ),
    "The future is dotted.": "未来画成点线。",
    "The future, which no query reads, is dotted.": "未来没有查询会读，画成点线。",
    "Which row does each cell read?": "每个格子读哪一行？",
    "Keys": "键数",
    "Memory m": "记忆 m",
    "The cells are drawn up to {q} queries and {k} keys.": "格子最多画到 {q} 个查询、{k} 个键。",
    "row of the table, darker is higher": "表的行号，越深越大",
    "beyond the wall: shares the row at the end": "墙外：共用最末一行",
    "query {query}, key {key}: distance {distance}, row {row}": "查询 {query}，键 {key}：距离 {distance}，第 {row} 行",
    "row of {formula}": "{formula} 的行",
    "{formula} runs from {smallest} to {largest}.": "{formula} 从 {smallest} 到 {largest}。",
    "Distances run from **{low} to {high}**, {n} of them, and the table has {rows} rows.": (
        "距离从 **{low} 到 {high}**，共 {n} 个，表有 {rows} 行。"
    ),
    "Each distance has a row of its own.": "每个距离都有自己的一行。",
    "Rows that nothing reads: {unused}. max_len needed: **{needed}**, causal {causal}.": (
        "没有人读的行：{unused}。需要的 max_len：**{needed}**，因果时 {causal}。"
    ),
    "{n} distances share row {row}.": "{n} 个距离共用第 {row} 行。",
    "Which rows were ever trained?": "哪些行真正训练过？",
    "A sinusoid has no rows to train: it computes one for any distance. What was trained is W_kR, and only on the "
    "distances that the training had, which the checkpoint does not say.": (
        "正弦没有需要训练的行：任何距离都能算出来。训练过的是 W_kR，而且只在训练时出现过的距离上；检查点没有说明是哪"
        "些。"
    ),
    "A sinusoid has no rows to train: it computes one for any distance. What was trained is W_kR, and only on the "
    "distances 0 to {reach}.": (
        "正弦没有需要训练的行：任何距离都能算出来。训练过的是 W_kR，而且只在距离 0 到 {reach} 上。"
    ),
    "training reaches {n}": "训练到达 {n}",
    "Rows of the table of layer {layer} over their distance.": "第 {layer} 层的表，各行随距离的变化。",
    "Layer {layer}. Size is the norm of a row over the layer’s mean. This text reads {n} rows.": (
        "第 {layer} 层。大小是一行的范数与本层均值之比。这段文本读到 {n} 行。"
    ),
    "Layer {layer}. Size is the norm of a row over that which it was drawn with; the band holds the rows that "
    "stayed as they were. This text reads {n} rows.": (
        "第 {layer} 层。大小是一行的范数与初始化时范数之比；色带里是保持原样的行。这段文本读到 {n} 行。"
    ),
    "The checkpoint says neither which rows got a gradient nor how they were drawn.": (
        "检查点既没有说哪些行得到过梯度，也没有说它们是怎样初始化的。"
    ),
    "The checkpoint does not say which rows got a gradient; {n} of {rows} still have the size that they were drawn "
    "with in every layer.": "检查点没有说哪些行得到过梯度；{rows} 行中有 {n} 行在每一层都还是初始化时的大小。",
    "**{n} of {rows} rows were never trained**": "**{rows} 行中有 {n} 行从未训练过**",
    "{n} rows of the future were trained, so the mask of the training let it in.": (
        "有 {n} 行属于未来却训练过，可见训练时的掩码把未来放了进来。"
    ),
    ": all of the future.": "：全部属于未来。",
    ": {n} of the future.": "：其中 {n} 行属于未来。",
    ": {future} of the future, and {past} of the past, because training reached no further than {reach}. Those of "
    "the past have {size} times the size that they were drawn with, and a longer text reads them all the same.": (
        "：{future} 行属于未来，{past} 行属于过去，因为训练最远只到 {reach}。属于过去的那些仍是初始化时大小的 {size} "
        "倍，而更长的文本照样会读到它们。"
    ),
    "Distance is m + i − j: 0 is the token itself, positive is the past. A table of max_len n has 2n − 1 rows. "
    "`relxl.experiments.max_len.score_change` reads the head twice on the same layer input, so what differs is this "
    "layer’s reading and nothing else; the loss is that of `relxl.reading.with_positions`, where every layer reads "
    "so, on the last tokens of the text read at once. `index_rows`, `row_sharing` and `table_use` give the tables, "
    "`relxl.experiments.max_len_losses.length_losses` the losses: every cell of its grid is measured on the same "
    "characters with a full memory.": (
        "距离是 m + i − j：0 是 token 自己，正数是过去。max_len 为 n 的表有 2n − 1 行。"
        "`relxl.experiments.max_len.score_change` 在同一份层输入上把这个头读两遍，所以差别只来自这一层的读法；损失由 "
        "`relxl.reading.with_positions` 给出，那里每一层都这样读，一次读完文本最后的那些 token。`index_rows`、"
        "`row_sharing` 和 `table_use` 给出各表，`relxl.experiments.max_len_losses.length_losses` 给出损失：它的网格里"
        "每一格都在同样的字符、满的记忆上测量。"
    ),
    "distance %{x}, beyond the wall": "距离 %{x}，在墙外",
    "size of the row, 1 is as it was drawn": "行的大小，1 为初始化时",
    "size of the row, 1 is the mean": "行的大小，1 为均值",
    "training steps that gave it a gradient": "给过它梯度的训练步数",
    "cells of this picture that read it": "本图中读它的格子数",
    "as drawn, never trained": "保持初始化，从未训练",
    "distance of the row, tokens (positive is the past)": "行的距离（token，正数表示过去）",
    "segment %{x}": "片段 %{x}",
    "length of the segment, tokens": "片段长度（token）",
    "loss, nats per character": "损失（nat/字符）",
    "position %{x}": "位置 %{x}",
}
