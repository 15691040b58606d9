"""Chinese texts of the page "Score terms"."""

TEXTS = {
    "one token back": "看前一个 token",
    "Try this: the head with most": "试一试：这一项占比最大的头",
    "this row": "本行",
    "{term} carries {share} of what tells the keys apart in {head}.": (
        "在 {head} 里，键与键之间的差别有 {share} 来自 {term}。"
    ),
    "Query {query} {query_token} gives {p} of its attention to key {key} {key_token} at distance {distance}.": (
        "查询 {query} {query_token} 把 {p} 的注意力给了距离 {distance} 处的键 {key} {key_token}。"
    ),
    "Explain this cell": "这个格子是怎么算出来的",
    "Click a cell of a matrix, or set query and key.": "点击矩阵里的一个格子，或者设定查询和键。",
    "the mask hides it, so its probability is 0": "掩码遮住了它，所以概率为 0",
    "its probability is **{p}**": "概率为 **{p}**",
    "Query {query} {query_token} at key {key} {key_token}, distance {distance}: {n} dot products over {d_head} "
    "dimensions, times the scale {scale}, add up to the score **{score}**; {outcome}.": (
        "查询 {query} {query_token} 对键 {key} {key_token}，距离 {distance}：{d_head} 维上的 {n} 个点积乘以缩放 "
        "{scale}，相加得到得分 **{score}**；{outcome}。"
    ),
    "dot product": "点积",
    "term": "项",
    "times scale": "乘以缩放后",
    "Dimension {dimension} adds most to this cell: {value}.": "第 {dimension} 维对这个格子贡献最大：{value}。",
    "(c) u_bias: one number a key": "(c) u_bias：每个键一个数",
    "The key that u favours most is {token} at {key}.": "u 最偏爱的键是 {key} 处的 {token}。",
    "What a key adds whoever asks.": "不管谁来问，一个键加多少分。",
    "(d) v_bias: one number a distance": "(d) v_bias：每个距离一个数",
    "Among the visible distances v favours {distance} most.": "在可见的距离里，v 最偏爱 {distance}。",
    "What a distance adds whatever stands there.": "不管那里是什么，一个距离加多少分。",
    "segment": "片段",
    "All heads of layer {layer}": "第 {layer} 层的全部头",
    "all four": "全部四项",
    "Term": "项",
    "{term} of {n} heads of layer {layer}, on one scale": "第 {layer} 层 {n} 个头的 {term}，用同一刻度",
    "The last {queries} queries of the text, numbered from there.": "文本的最后 {queries} 个查询，编号从这里起。",
    "Every head at query {query}, key {key}, and the shares of its terms.": (
        "每个头在查询 {query}、键 {key} 处的得分，以及各项的占比。"
    ),
    "Every cell of {head}: the four terms, their sum, mask and probability.": (
        "{head} 的每个格子：四项、总和、掩码和概率。"
    ),
    "As CSV or HTML up to {n} cells.": "CSV 和 HTML 最多 {n} 个格子。",
    "`relxl.model.AbsoluteMultiheadAttention.terms` multiplies out. The position part p is the position vector "
    "added to the input, as far as the residual stream carries it to this layer; all that layers wrote belongs to "
    "the content e.": (
        "`relxl.model.AbsoluteMultiheadAttention.terms` 把乘积展开。位置部分 p 是加到输入上的位置向量，取残差流把它带"
        "到这一层时还剩下的部分；各层写入的一切都算在内容 e 里。"
    ),
    "`relxl.relative.score_terms` projects the position table once, [head distance d_head], multiplies it with the "
    "queries and reads cell (i, j) at distance m + i − j as a view.": (
        "`relxl.relative.score_terms` 只把位置表投影一次，得到 [head distance d_head]，与查询相乘，再以视图的方式在距"
        "离 m + i − j 处读出格子 (i, j)。"
    ),
    "A share is Cov(term, sum) / Var(sum) over the visible keys of a row, because what is constant in a row changes "
    "nothing after the softmax; over a head, covariances and variances are summed over its rows. Shares add up to "
    "100 % and may be negative. The badge compares this very view with `relxl.definition`, the formula written out "
    "in float64.": (
        "占比是在一行的可见键上计算的 Cov(项, 总和) / Var(总和)，因为在一行里恒定的东西经过 softmax 后不起作用；对整"
        "个头，则把各行的协方差和方差分别相加。占比之和为 100 %，可以为负。徽章把眼前的结果与 `relxl.definition`（按"
        "公式用 float64 逐项写出的版本）比较。"
    ),
    "key %{x}": "键 %{x}",
    "distance to the key, tokens (positive is the past)": "到键的距离（token，正数表示过去）",
    "dimension %{x}": "第 %{x} 维",
    "dimension of the head": "头内的维度",
    "every head": "每个头",
    "Term mixer": "四项混音台",
    "Acts on": "作用于",
    "All to 1": "全部归 1",
    "Mute": "静音",
    "Unmute": "取消静音",
    "Solo": "独奏",
    "Loss on this text, read as one segment: {loss} nats per token.": (
        "把这段文本当作一个片段来读，损失为 {loss} nat/token。"
    ),
    "Loss on this text, read as one segment: **{loss}** nats per token with this mix, {plain} without: {change}.": (
        "把这段文本当作一个片段来读：按此混音损失为 **{loss}** nat/token，不混音为 {plain}，相差 {change}。"
    ),
    "Who makes this row's attention": "这一行的注意力是谁造成的",
    "Query {query} is {whole} nats from uniform attention; ({letter}) brings {share} of that, counted over every "
    "order in which the terms could be added.": (
        "查询 {query} 离均匀注意力有 {whole} nat；其中 ({letter}) 贡献 {share}，按各项所有可能的相加顺序平均。"
    ),
    "What each term of each head is worth": "每个头的每一项值多少",
    "Mute {n} terms in turn on the last {tokens} tokens": "在最后 {tokens} 个 token 上依次静音 {n} 个项",
    "Muting ({letter}) of {head} costs most: {change} nats per token over {plain}.": (
        "静音 {head} 的 ({letter}) 代价最大：在 {plain} 的基础上变化 {change} nat/token。"
    ),
    "change of the loss, nats per token": "损失的变化（nat/token）",
    "Shapley, of the focus": "Shapley 值，对聚焦程度",
    "covariance, of the scores": "协方差，对得分",
    "share of the row, %": "占本行的比例（%）",
    "Sets off the term’s panel, and shows its parameters and the line that computes it.": (
        "突出显示这一项的面板，并给出它的参数和计算它的那行代码。"
    ),
    "Look closer at a term": "细看其中一项",
    "parameter of {head}": "{head} 的参数",
    "norm": "范数",
}
