"""Chinese texts of the page "Relative vs absolute"."""

TEXTS = {
    "Relative vs absolute": "相对与绝对",
    "Is relative really better, and when?": "相对位置真的更好吗？什么时候？",
    "The same small model three times, on the same batches. Above the line at 0 relative positions win; a band is "
    "the range over the seeds.": (
        "同一个小模型，三种位置，训练批次相同。0 线以上是相对位置占优；色带是各种子之间的范围。"
    ),
    "Lessons": "课程",
    "Teach me.": "从头学起。",
    "Ten short lessons on the model on screen. Each step has a figure, and what to look for in it.": (
        "围绕当前模型的十节短课。每一步都有一幅图，以及图里该看什么。"
    ),
    "absolute": "绝对",
    "relative (learned)": "相对（可学习）",
    "relative (sinusoid)": "相对（正弦）",
    "The article’s claim": "文章的说法",
    "Read segments eight times as long": "读八倍长的片段",
    "With memory": "带记忆",
    "Chinese lyrics": "宋词",
    "Shakespeare": "莎士比亚",
    "Song lyrics": "歌词",
    "one segment": "单个片段",
    "1: segments as long as in training. 8: the same models read segments eight times as long.": (
        "1：片段与训练时一样长。8：同样的模型读八倍长的片段。"
    ),
    "Segments read": "读取的片段",
    "perplexity": "困惑度",
    "At the right": "右图",
    "segment length in training, tokens": "训练时的片段长度（token）",
    "the article: above 256": "文章：256 以上",
    "“below 50 absolute may win”": "“50 以下绝对位置可能胜出”",
    "{measure} of each kind over the segment’s length; lowest at {n}: {name}, {value}.": (
        "每种位置的{measure}随片段长度的变化；{n} 处最低的是 {name}，为 {value}。"
    ),
    "**{low}** nats per character at {first} tokens, **{high}** at {last}": (
        "在 {first} 个 token 时 **{low}** nat/字符，在 {last} 个时 **{high}**"
    ),
    "Here no gap stays open at the longest segments: {name} gains {ends}.": (
        "这里到最长的片段为止都没有稳定的差距：{name} 的优势：{ends}。"
    ),
    "Here the gap is open from **{opens} tokens** on, in every seed: {name} gains {ends}.": (
        "这里从 **{opens} 个 token** 起，每个种子都拉开了差距：{name} 的优势：{ends}。"
    ),
    "earlier than the article’s 256": "比文章说的 256 更早",
    "below 50 absolute does not win either": "50 以下绝对位置也没有胜出",
    "below 50 absolute does win": "50 以下确实是绝对位置胜出",
    "; ": "；",
    "That is {verdicts}.": "也就是说，{verdicts}。",
    "Beyond the training length, and within a segment": "超出训练长度，以及片段之内",
    "Trained on segments of": "训练片段长度",
    "length of the segments read, tokens": "读取的片段长度（token）",
    "position in segments of {n} tokens (mean of each bin)": "{n} 个 token 的片段内的位置（每个区间的均值）",
    "Loss by position in segments of {n} tokens; in the last bin {losses}.": (
        "{n} 个 token 的片段内，损失随位置的变化；最后一个区间为 {losses}。"
    ),
    "Read in segments {times} times as long as in training ({n} tokens), a loss changes by: {listed}.": (
        "片段读到训练时的 {times} 倍长（{n} 个 token）时，损失的变化：{listed}。"
    ),
    "{n} trainings: {n_layer} layers × {n_head} heads, d_model {d_model}, {steps} steps of {step_tokens} characters "
    "at a learning rate of up to {lr:g}; of one seed all three kinds see the same batches, at every length as many "
    "characters. A band is the range over {seeds} seeds. {scored} characters of the held-out text are scored, the "
    "same ones everywhere. These are small models, early in training: absolute positions may catch up later.": (
        "{n} 次训练：{n_layer} 层 × {n_head} 头，d_model {d_model}，{steps} 步，每步 {step_tokens} 个字符，学习率最"
        "高 {lr:g}；同一个种子下，三种位置看到同样的批次，每种长度看到同样多的字符。色带是 {seeds} 个种子之间的范围。"
        "在留出文本的 {scored} 个字符上计分，处处相同。这些是处于训练早期的小模型：绝对位置以后也许会追上来。"
    ),
    "{minutes:.0f} minutes on the machine that recorded it, torch {torch}.": (
        "在记录它的机器上用了 {minutes:.0f} 分钟，torch {torch}。"
    ),
    "Table as CSV": "CSV 表格",
    "The recorded result is not here yet: this command writes it, in about two hours on two cores.": (
        "这里还没有记录的结果：运行下面的命令即可生成，双核约需两小时。"
    ),
    "Repeat it, small": "小规模重做一遍",
    "Segment length": "片段长度",
    "Three models of 2 layers × 4 heads, d_model 64, on Shakespeare, {steps} steps, the same batches": (
        "三个模型，2 层 × 4 头，d_model 64，莎士比亚文本，{steps} 步，批次相同"
    ),
    "Mean loss of the last {n} steps, in nats per character: {listed}.": (
        "最后 {n} 步的平均损失（nat/字符）：{listed}。"
    ),
    "held-out loss, segments of {n}": "留出文本的损失，片段 {n}",
    "Both have four terms: the same text, relative above, absolute below": (
        "两者都有四项：同一段文本，上为相对，下为绝对"
    ),
    "relative": "相对",
    "In {label} position alone, (d), carries {relative} of the relative score and {absolute} of the absolute one. "
    "Distance explains **{all}** of (d) v_bias, by construction, and **{part}** of (d) position_position: what is "
    "left over depends on where in the segment the pair stands. No relative term knows the query’s own place.": (
        "在 {label} 里，单凭位置的 (d) 占相对得分的 {relative}，占绝对得分的 {absolute}。距离能解释 (d) v_bias 的 "
        "**{all}**，这是由构造决定的；能解释 (d) position_position 的 **{part}**：剩下的取决于这一对处在片段的什么位"
        "置。相对的各项里，没有一项知道查询自己的位置。"
    ),
    "what relative positions gain, nats per character": "相对位置的优势（nat/字符）",
    "Derive it: from absolute to relative, one replacement at a time": "推导：从绝对到相对，一次替换一处",
    "Move the text by, places": "把文本平移几位",
    "Largest change of a visible cell when the text is moved by {n} places": "文本平移 {n} 位时，可见格子的最大变化",
    "moved by {n}": "平移 {n}",
    "change of {term}": "{term} 的变化",
    "the model on screen has absolute positions": "当前模型用的是绝对位置",
    "the model on screen has segment terms too": "当前模型还有片段项",
    "the model on screen reads other distances than i − j": "当前模型读的距离不是 i − j",
    "four products": "四个乘积",
    "Wₖ split": "拆分 Wₖ",
    "trained": "训练后",
    "A token carries its place in its embedding, $e + p$. The score is one product, and nothing is apart yet.": (
        "token 把自己的位置带在嵌入里，$e + p$。得分只是一个乘积，什么都还没有分开。"
    ),
    "Multiplied out: four products, and no score changes. Only (a) is free of places; the others depend on "
    "**where** the two tokens stand.": (
        "乘开来：四个乘积，得分一个也没变。只有 (a) 与位置无关；其余各项都取决于两个 token 在**哪里**。"
    ),
    "In (b) and (d) the key’s place $p_j$ becomes the distance $R_{i-j}$, the same sinusoid read at $i - j$. The "
    "query’s own place is still in (c) and (d).": (
        "在 (b) 和 (d) 中，键的位置 $p_j$ 换成距离 $R_{i-j}$，即同一个正弦在 $i - j$ 处的值。查询自己的位置还留在 "
        "(c) 和 (d) 里。"
    ),
    "In (c) the query’s own place $W_q p_i$ becomes one vector $u$ for all queries: what a key offers no longer "
    "depends on where it is asked from.": (
        "在 (c) 中，查询自己的位置 $W_q p_i$ 换成对所有查询都相同的向量 $u$：一个键给出什么，不再取决于从哪里问它。"
    ),
    "In (d) it becomes another vector $v$, so that the two can be learned apart. What is left of (d) is one curve "
    "over distance: there is no place in the score any more.": (
        "在 (d) 中，它换成另一个向量 $v$，这样两者可以分开学习。(d) 只剩下一条随距离变化的曲线：得分里再也没有位置了。"
    ),
    "Content and distance get matrices of their own, $W_{kE}$ and $W_{kR}$. Here both are still a copy of $W_k$, so "
    "no score changes; from now on training can tell them apart.": (
        "内容和距离各有自己的矩阵 $W_{kE}$ 和 $W_{kR}$。这里两者都还是 $W_k$ 的副本，所以得分没有变；从此以后，训练可"
        "以让它们分道扬镳。"
    ),
    "The same formula with what {name} learned for it: the score of its layer 0.": (
        "同样的公式，换上 {name} 为它学到的参数：它第 0 层的得分。"
    ),
    "Without projections pᵢ · pⱼ would be a function of i − j already (moved by {n} places it changes by {x}): the "
    "projections between them make the place matter.": (
        "如果没有投影，pᵢ · pⱼ 本来就是 i − j 的函数（平移 {n} 位时它变化 {x}）：是夹在中间的投影让位置起了作用。"
    ),
    "The replacement itself changes a score by up to {x} and a probability by up to {p}: a model has to be trained "
    "with it.": "替换本身最多让一个得分变化 {x}，让一个概率变化 {p}：模型必须在替换后的形式上训练。",
    "to the last bit": "，一比特不差",
    "up to rounding": "，只差舍入",
    "Moved by {n} places, the text keeps **every term, every score and every probability** {how}.": (
        "文本平移 {n} 位，**每一项、每个得分、每个概率**都不变{how}。"
    ),
    "Moved by {n} places, the text changes a score ({size} at most) by up to **{x}** and a probability by up to "
    "**{p}**.": "文本平移 {n} 位，得分（最大 {size}）最多变化 **{x}**，概率最多变化 **{p}**。",
    "{term} changes by up to **{x}**": "{term} 最多变化 **{x}**",
    "Moved by {n} places, the text keeps **{terms}** {how}; {changes}. So a score ({size} at most) changes by up to "
    "**{x}**, a probability by up to **{p}**.": (
        "文本平移 {n} 位，**{terms}** 不变{how}；{changes}。于是得分（最大 {size}）最多变化 **{x}**，概率最多变化 "
        "**{p}**。"
    ),
    "Steps 0 to 5 are computed from the embeddings, $W_q$ and $W_k$ of {first}, layer 0, head {head}, in float64. "
    "Nothing in it was trained to be $u$, $v$ or $W_{kR}$, so $u = v$ = the mean of $W_q p_i$ over the {places} "
    "places of its training, and $W_{kE} = W_{kR} = W_k$. Step 6 is layer 0, head {last_head} of {last} as it was "
    "trained": (
        "第 0 到 5 步由 {first} 的嵌入、$W_q$ 和 $W_k$ 计算，第 0 层，头 {head}，float64。其中没有任何东西被训练成 "
        "$u$、$v$ 或 $W_{kR}$，所以取 $u = v$ = $W_q p_i$ 在其训练的 {places} 个位置上的均值，并取 $W_{kE} = W_{kR} "
        "= W_k$。第 6 步是 {last} 第 0 层的头 {last_head}，保持训练后的样子"
    ),
    "; its R is a learned table.": "；它的 R 是可学习的表。",
    "; its R is a sinusoid.": "；它的 R 是正弦。",
    "It stands in, since {reason}.": "之所以用它代替，是因为{reason}。",
    "Both ends are what the models themselves compute: step 1 differs from the split of the one by {first} at most, "
    "step 6 from that of the other by {last}, the rounding of their float32.": (
        "两端都是模型自己算出来的：第 1 步与前一个模型的拆分最多相差 {first}，第 6 步与后一个的最多相差 {last}，都是"
        "它们 float32 的舍入。"
    ),
    "The two models do not share their tokens, so each reads an input of its own.": (
        "两个模型的 token 不通用，所以各读各的输入。"
    ),
    "What moving the text changes at every step": "平移文本在每一步改变什么",
    "not apart yet": "尚未分开",
    "moved by %{x}": "平移 %{x}",
    "the text is moved by, places": "文本平移的位数",
    "largest change": "最大变化",
}
