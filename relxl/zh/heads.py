"""Chinese texts of the page "Heads"."""

TEXTS = {
    "Measure": "指标",
    "{n} windows, {text}": "{n} 个窗口，{text}",
    "this window": "当前窗口",
    "Numbers of": "数据来自",
    "content": "内容",
    "global": "全局",
    "position": "位置",
    "Heads by the corner they are nearest to: {counts}. {head} has {mine}.": (
        "按最靠近的角归类，各有多少个头：{counts}。{head} 的三部分为 {mine}。"
    ),
    "No head of this model has a number here: its scores are not finite.": (
        "这个模型没有一个头在这里有数值：它的得分不是有限数。"
    ),
    "{leader}; it is the chosen head. The median head has {median}.": (
        "{leader}；选中的正是它。各头的中位数为 {median}。"
    ),
    "{leader}; the median head has {median}, and {head} has {own}, place {rank} of {n}.": (
        "{leader}；各头的中位数为 {median}，{head} 为 {own}，在 {n} 个头中排第 {rank}。"
    ),
    "**L{layer}H{head}** leads with **{value}** ({what})": "**L{layer}H{head}** 以 **{value}** 居首（{what}）",
    "One token back": "看前一个 token",
    "The first key": "看第一个键",
    "Induction": "归纳头",
    "Position alone": "只凭位置",
    "Furthest back": "看得最远",
    "Open {head} on Score terms": "在“四项得分”页打开 {head}",
    "Average over many windows": "在多个窗口上取平均",
    "The text is a single window. Give a longer one, and its windows are averaged here.": (
        "这段文本只有一个窗口。给一段更长的，就会在它的各个窗口上取平均。"
    ),
    "There is one input, and it is what is shown.": "输入只有一份，就是眼前显示的这一份。",
    "{windows} windows, {rows} queries: {leader}. The number after ± is the standard deviation over windows.": (
        "{windows} 个窗口，{rows} 个查询：{leader}。± 后面是窗口之间的标准差。"
    ),
    "Heads like {head}": "与 {head} 相像的头",
    "The model has no other head.": "模型没有别的头。",
    "Most alike:": "最像的：",
    "The number is how far apart two heads are in all measures, in standard deviations over the heads; the head "
    "that is least like it, L{layer}H{head}, is {difference} away.": (
        "数字表示两个头在全部指标上相距多远，以各头之间的标准差为单位；最不像它的是 L{layer}H{head}，相距 "
        "{difference}。"
    ),
    "`relxl.diagnostics.window_scores` measures one window. A share is taken over all rows of a head at once. By "
    "distance, by key and by both are least squares over the visible cells with a constant a row "
    "(`relxl.diagnostics.additive`), exact, and of a long window over its last 384 keys. Attention to the token "
    "before, to the first key and after a copy is the mean over the queries that have such a key; with a memory the "
    "first key in view is its oldest. `relxl.atlas.atlas` reads window after window, each with its own memory of "
    "the tokens before it, and at most the last 256 queries of each; windows merge exactly, weighted by rows or by "
    "variance. In the triangle content is (a), position is (b), what the query asks of the place, and global is "
    "what does not depend on what the query holds, (c) and (d); a head with a share below 0 is drawn open, on the "
    "edge.": (
        "`relxl.diagnostics.window_scores` 测量一个窗口。占比在一个头的所有行上一起计算。“按距离”“按键”和“按两者”是在"
        "可见格子上、每行带一个常数的最小二乘拟合（`relxl.diagnostics.additive`），结果精确；窗口很长时只取最后 384 "
        "个键。对前一个 token、第一个键和重复之后那个 token 的注意力，是对有这种键的查询取平均；有记忆时，第一个键指"
        "视野里最老的那个。`relxl.atlas.atlas` 逐个读窗口，每个窗口带着自己之前那些 token 的记忆，各取最多最后 256 个"
        "查询；窗口的合并是精确的，按行数或按方差加权。三角形里，内容是 (a)；位置是 (b)，即查询对位置的要求；全局是与"
        "查询内容无关的 (c) 和 (d)。占比低于 0 的头画成空心，放在边上。"
    ),
    "share of ({letter}) {term} in what tells the keys of a row apart": "一行中键与键的差别里 ({letter}) {term} 的占比",
    "attention to the token before": "对前一个 token 的注意力",
    "token before": "前一个 token",
    "attention to the first key in view": "对视野里第一个键的注意力",
    "first key": "第一个键",
    "after a copy": "重复之后",
    "attention to what followed earlier copies of the query’s token in the text": (
        "对文本中查询 token 先前出现处之后那个 token 的注意力"
    ),
    "attention to what followed the earlier copy, on random tokens that come twice": (
        "在重复两遍的随机 token 上，对先前那一遍之后那个 token 的注意力"
    ),
    "induction": "归纳",
    "how far away a query looks on average, in tokens": "一个查询平均看多远（token）",
    "mean distance": "平均距离",
    "entropy": "熵",
    "entropy of the attention, in nats": "注意力的熵（nat）",
    "entropy of possible": "熵 / 最大熵",
    "entropy over its largest value, that of equal attention": "熵与其最大值（注意力完全均匀时）之比",
    "by distance": "按距离",
    "how much of the scores a function of distance alone explains": "得分中有多少能只用距离的函数解释",
    "by key": "按键",
    "how much of the scores a function of the key alone explains": "得分中有多少能只用键的函数解释",
    "by both": "按两者",
    "how much of the scores distance and key explain together, whatever the query": (
        "不管查询是什么，得分中有多少能由距离和键一起解释"
    ),
    "attention to keys before the segment": "对片段之前的键的注意力",
    "attention to memory slots that are vectors of zeros": "对零向量记忆槽的注意力",
    "zeros": "零向量",
    "{n} inputs of hidden states": "{n} 份隐藏状态输入",
    "all inputs": "全部输入",
    "this text": "这段文本",
    "{name}, the part it was not trained on": "{name} 的非训练部分",
    "{windows} windows of {n} tokens: {tokens} tokens of {label}": (
        "{label}，{windows} 个窗口，每个 {n} 个 token，共 {tokens} 个 token"
    ),
    "All heads": "全部头",
    "Layers": "层",
    "all of them": "全部",
    "{measure} at least": "{measure} 不低于",
    "All heads with all measures, by {measure}.": "全部头的全部指标，按{measure}排序。",
    "{n} of {all} heads. A row or a cell chooses its head everywhere.": (
        "{all} 个头中的 {n} 个。点一行或一格，就在所有页面选中那个头。"
    ),
}
