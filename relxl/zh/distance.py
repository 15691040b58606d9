"""Chinese texts of the page "Distance"."""

TEXTS = {
    "{n}×": "{n}×",
    "{n}× training": "{n}× 训练长度",
    "Distance axis": "距离轴",
    "linear": "线性",
    "logarithmic": "对数",
    "Terms": "项",
    "all terms": "全部项",
    "terms of position": "位置项",
    "How far": "画到多远",
    "Nearest": "看得最近",
    "Farthest": "看得最远",
    "Position says nearer": "位置想要更近",
    "Position says farther": "位置想要更远",
    "A longer text": "更长的文本",
    "attention probability": "注意力概率",
    "All {n} heads of layer {layer}, {name} bold.": "第 {layer} 层的全部 {n} 个头，{name} 加粗。",
    "(d) is from the weights alone, moved so that its mean over the distances of this text is 0;": (
        "(d) 只由权重得出，已平移到在这段文本的各距离上均值为 0；"
    ),
    "the other terms are averaged round the mean of their row, since a softmax sees no more.": (
        "其余各项围绕所在行的均值取平均，因为 softmax 看到的不过如此。"
    ),
    "Terms are averaged round the mean of their row, since a softmax sees no more.": (
        "各项围绕所在行的均值取平均，因为 softmax 看到的不过如此。"
    ),
    "A band is one standard deviation over the queries that have such a key, where {n} or more do.": (
        "色带是有这个键的查询之间的一个标准差，仅在这样的查询不少于 {n} 个时画出。"
    ),
    "The last {n} queries of the text count.": "只算文本的最后 {n} 个查询。",
    "From “memory” on every key is memory.": "从“记忆”往后，所有键都在记忆里。",
    "Shaded: farther than training ever looked.": "阴影部分：训练从未看过这么远。",
    "**{head}** gives no attention that could be measured.": "**{head}** 没有可以测量的注意力。",
    "**{head}** gives half of its attention to the last **{half}** tokens and 90 % to the last {most};": (
        "**{head}** 一半的注意力在最后 **{half}** 个 token 上，90 % 在最后 {most} 个上；"
    ),
    "{term} alone would give half to the last **{alone}**.": "单凭 {term}，一半会在最后 **{alone}** 个上。",
    "**{head}** gives half of its attention to keys at most **{half}** away and 90 % at most {most};": (
        "**{head}** 一半的注意力落在距离不超过 **{half}** 的键上，90 % 不超过 {most}；"
    ),
    "{term} alone would give half at most **{alone}** away.": "单凭 {term}，一半会落在距离不超过 **{alone}** 处。",
    "With absolute positions it is no curve of distance: the band says how far it depends on the place.": (
        "绝对位置下它不是距离的曲线：色带表示它随所在位置变化多少。"
    ),
    "Cells of one distance read different rows here, so no curve belongs to the distance.": (
        "这里同一距离的格子读的是不同的行，所以没有一条属于距离的曲线。"
    ),
    "Its curve is highest at distance {peak}": "它的曲线在距离 {peak} 处最高",
    " and has fallen half of the way at {n}": "，到 {n} 处已降下一半",
    "; beyond the training one value stands for all distances": "；超出训练长度后，所有距离共用一个值",
    "; beyond the training it still moves by {share} of its range": "；超出训练长度后，它仍会变动其范围的 {share}",
    "half by {term} alone": "单凭 {term} 到一半",
    "How far does each head look?": "每个头看多远？",
    "{near} looks nearest, half of its attention within {n}; {far} farthest, within {m}.": (
        "{near} 看得最近，一半的注意力在 {n} 以内；{far} 看得最远，在 {m} 以内。"
    ),
    "The heads of layer {layer}.": "第 {layer} 层的各个头。",
    "Attention within a distance": "某个距离以内的注意力",
    "{term} alone": "单凭 {term}",
    "{head} keeps {real} of its attention within {n} tokens; its position term alone {alone}.": (
        "{head} 把 {real} 的注意力留在 {n} 个 token 以内；单凭它的位置项则是 {alone}。"
    ),
    "Bands hold 80 % of the queries.": "色带包含 80 % 的查询。",
    "(d) v_bias of every head of the model, from the weights alone": "全模型每个头的 (d) v_bias，只由权重得出",
    "hidden": "隐藏",
    "shown": "显示",
    "All layers": "所有层",
    "v_bias over the distances {low} to {high}: it has most to say in L{layer}H{head}, over a range of {size}.": (
        "距离 {low} 到 {high} 上的 v_bias：L{layer}H{head} 里它的话最多，跨度为 {size}。"
    ),
    "A row has one scale, written at its end; the dotted stroke is where training ended.": (
        "每行一个刻度，写在行尾；虚线是训练到达之处。"
    ),
    "`relxl.diagnostics.distance_profile` averages over the queries that have a key at distance d; `row_centred` "
    "takes the mean over the visible keys of each row away first, because a constant in a row changes nothing after "
    "the softmax. `attention_reach` adds up the attention of all queries from the nearest key on and says where it "
    "passes 50 % and 90 %. “Alone” is the softmax of one term over the visible keys (`alone`). (d) v_bias, scale · "
    "v · W_kR R_d, needs no text (`relxl.weights_only.v_bias_curves`). All take arrays; `profile_table` and "
    "`reach_table` give tables.": (
        "`relxl.diagnostics.distance_profile` 对在距离 d 处有键的查询取平均；`row_centred` 先减去每行可见键的均值，因"
        "为行内的常数经过 softmax 后不起作用。`attention_reach` 从最近的键开始累加所有查询的注意力，给出越过 50 % 和 "
        "90 % 的位置。“单凭”指只对这一项在可见键上做 softmax（`alone`）。(d) v_bias 即 scale · v · W_kR R_d，不需要文"
        "本（`relxl.weights_only.v_bias_curves`）。这些函数都接受数组；`profile_table` 和 `reach_table` 给出表格。"
    ),
    "score round its mean": "减去行均值后的得分",
    "distance %{customdata}": "距离 %{customdata}",
    "90 %": "90 %",
    "half of its attention": "一半的注意力",
    "half-life of v_bias": "v_bias 的半衰距离",
    "within <b>%{customdata:.0f}</b>": "<b>%{customdata:.0f}</b> 以内",
    "within %{customdata}": "%{customdata} 以内",
    "distance %{customdata[0]}": "距离 %{customdata[0]}",
}
