"""Chinese texts of the page "Memory"."""

TEXTS = {
    "Most from memory": "读记忆最多的头",
    "Least": "读得最少的头",
    "Still at the end": "到末尾仍在读的头",
    "A text of several segments": "多个片段的文本",
    "{i} of {n}": "第 {i} 段，共 {n} 段",
    "Segment of the text": "文本的片段",
    "**Memory is off**, so nothing is cached;": "**记忆已关闭**，什么也没有缓存；",
    "**This text is too short for a memory;**": "**这段文本太短，装不出记忆；**",
    "**This model reads hidden states, and these came without a memory;**": (
        "**这个模型读取隐藏状态，而这些隐藏状态没有带记忆；**"
    ),
    "shown is what would have to cross if the input were cut in its middle, after {n}.": (
        "图中显示的是：若在正中（{n} 之后）把输入切开，有什么必须越过去。"
    ),
    "Attention across the seam: {mean} over all heads, most in L{layer}H{head} with {most}.": (
        "越过接缝的注意力：各头平均 {mean}，最多的是 L{layer}H{head}，为 {most}。"
    ),
    "{head} gives {first} across the seam at the first query and {last} at the last.": (
        "{head} 在第一个查询处把 {first} 给了接缝另一边，在最后一个查询处是 {last}。"
    ),
    "**{head}** has nothing to read across the seam.": "**{head}** 在接缝另一边没有可读的东西。",
    "**{head}** gives **{mean}** of its attention to the memory: {first} at the first query of the segment, {last} "
    "at the last, where a head that looks everywhere alike would give {even}.": (
        "**{head}** 把 **{mean}** 的注意力给了记忆：片段的第一个查询处 {first}，最后一个 {last}；若处处看得一样，则"
        "为 {even}。"
    ),
    "**{head}** gives **{mean}** of its attention to what is before the cut: {first} at the first query after it, "
    "{last} at the last, where a head that looks everywhere alike would give {even}.": (
        "**{head}** 把 **{mean}** 的注意力给了切口之前：其后的第一个查询处 {first}，最后一个 {last}；若处处看得一样，"
        "则为 {even}。"
    ),
    "Of a single slot it reads most from {token}, {n} before the seam: {share}.": (
        "单个记忆槽里，它读得最多的是接缝前 {n} 处的 {token}：{share}。"
    ),
    "It was trained without a memory.": "它训练时没有记忆。",
    "What does each memory slot hold?": "每个记忆槽里装着什么？",
    "What would each slot hold?": "每个槽里会装着什么？",
    "{n} slots; {head} gives most to {named}.": "{n} 个槽；{head} 给得最多的是 {named}。",
    "A slot of layer 0 is the input at that token alone.": "第 0 层的槽就是那个 token 处的输入，仅此而已。",
    "A slot of layer {layer} is not the token but what the layers below made of it. Each of them read a memory of "
    "{n} itself, so the slot may carry something from up to {far} tokens before.": (
        "第 {layer} 层的槽不是 token 本身，而是下面各层由它算出的东西。那些层自己也各读了 {n} 的记忆，所以槽里可能带"
        "着最多 {far} 个 token 之前的信息。"
    ),
    "A slot of layer {layer} is what that layer reads at that place.": (
        "第 {layer} 层的槽，就是这一层在那个位置读到的东西。"
    ),
    "{n} slots are vectors of zeros (∅), with which this family starts; {head} gives them {share}.": (
        "有 {n} 个槽是零向量（∅），这个家族以它们开头；{head} 给了它们 {share}。"
    ),
    "The text is cut into segments that end with it; `relxl.experiments.memory.segment_trace` reads as many before "
    "the one shown as can matter, and keeps each layer’s inputs as memory. `seam_mass`, `slot_mass`, `even_mass` "
    "and `colliding_keys` of `relxl.diagnostics` take arrays. `loss_by_memory` measures the same tokens under every "
    "length of memory; `effective_memory` gives the shortest one that a longer one does not improve by more than "
    "0.005 nats a token, or two standard errors of the difference.": (
        "文本按片段切开，最后一段止于文本末尾；`relxl.experiments.memory.segment_trace` 读取所示片段之前一切可能有影"
        "响的片段，并把每层的输入留作记忆。`relxl.diagnostics` 的 `seam_mass`、`slot_mass`、`even_mass` 和 "
        "`colliding_keys` 接受数组。`loss_by_memory` 在每种记忆长度下测量同样的 token；`effective_memory` 给出最短的"
        "那个记忆长度：再加长，改善也不超过 0.005 nat/token 或差值的两个标准误。"
    ),
    "The same text under absolute positions: two segments collide": "同一段文本用绝对位置：两个片段相撞",
    "absolute, L0H{head}: (b) + (d), what the key’s place adds": "绝对位置，L0H{head}：(b) + (d)，键所在位置的贡献",
    "relative, {head}: (b) + (d), what the distance adds": "相对位置，{head}：(b) + (d)，距离的贡献",
    "The seam is the line; scores are round the mean of their row. Left of the seam the absolute model shows the "
    "same columns as right of it.": "竖线是接缝；得分已减去行均值。在接缝左边，绝对位置的模型显示出与右边相同的列。",
    "Every segment counts its places from 0, so **{n} pairs of keys** share a position vector. Memory key {slot} "
    "{slot_token} and segment key {key} {key_token} both stand at place {place}: to the last query L0H{head} gives "
    "them the position terms **{one}** and **{other}**. Over all pairs and queries the largest difference is "
    "{apart}; only their content tells them apart.": (
        "每个片段都从 0 数起，所以有 **{n} 对键**共用一个位置向量。记忆里的键 {slot} {slot_token} 和片段里的键 {key} "
        "{key_token} 都在位置 {place}：对最后一个查询，L0H{head} 给它们的位置项分别是 **{one}** 和 **{other}**。在所"
        "有键对和查询上最大差 {apart}；能区分它们的只有内容。"
    ),
    "On this segment the absolute model has a loss of {without:.3f} nats per token without memory and "
    "**{with_memory:.3f}** with it.": (
        "在这个片段上，绝对位置的模型不带记忆的损失是 {without:.3f} nat/token，带记忆则为 **{with_memory:.3f}**。"
    ),
    "It was trained without: trained with one, it still stood at 2.48 where the relative models had passed 1.7 "
    "(checkpoints/README.md).": (
        "它训练时没有记忆：带记忆训练的话，在相对位置的模型已低于 1.7 时，它还停在 2.48（checkpoints/README.md）。"
    ),
    "What does the memory save on this segment?": "在这个片段上，记忆省下多少？",
    "One token has no next one to predict: give a longer text.": "只有一个 token，没有下一个可预测：请给更长的文本。",
    "with memory": "带记忆",
    "without": "不带记忆",
    "With its memory the loss on this segment is **{a:.3f}** nats per token, without it {b:.3f}: {verdict}.": (
        "带记忆时，这个片段的损失是 **{a:.3f}** nat/token，不带是 {b:.3f}：{verdict}。"
    ),
    "the memory costs {x:.3f}": "记忆反而多出 {x:.3f}",
    "the memory saves {x:.3f}": "记忆省下 {x:.3f}",
    "Over the first {n} tokens that is {first}, over the last {n} {last}.": (
        "前 {n} 个 token 上是 {first}，后 {n} 个上是 {last}。"
    ),
    "How much memory is enough?": "多少记忆才够？",
    "the text in view": "当前文本",
    "The text has {n} tokens, and at least {least} are needed to measure a loss: give a longer one.": (
        "文本有 {n} 个 token，测量损失至少要 {least} 个：请给更长的文本。"
    ),
    "{name}: memory {first} to {last}, segments of {segment}, {n} tokens of {where}": (
        "{name}：记忆 {first} 到 {last}，片段 {segment}，{where} 的 {n} 个 token"
    ),
    "Loss against the position in the segment: {a:.3f} without memory at its beginning, {b:.3f} with.": (
        "损失随片段内位置的变化：片段开头处，不带记忆 {a:.3f}，带记忆 {b:.3f}。"
    ),
    "without memory": "不带记忆",
    "**No memory is enough:** without any the loss is **{a:.3f}** nats per token": (
        "**不用记忆就够了**：完全没有记忆时损失为 **{a:.3f}** nat/token"
    ),
    "; with {n} it is {b:.3f}": "；有 {n} 时为 {b:.3f}",
    "Without memory the loss is {a:.3f} nats per token, with **{n}** tokens of it **{b:.3f}**": (
        "没有记忆时损失为 {a:.3f} nat/token，有 **{n}** 个 token 的记忆时为 **{b:.3f}**"
    ),
    "; more, up to {longest}, gains nothing that could be told apart": "；再多，直到 {longest}，也没有可分辨的收益",
    ", and {longest} costs {x:.3f}": "，到 {longest} 反而多出 {x:.3f}",
    "Training had {n}.": "训练时是 {n}。",
    "Every layer has such a memory, so what is read through all of them goes further back.": (
        "每一层都有这样的记忆，所以逐层读下来，能追溯到更早。"
    ),
    "layer {n}, mean": "第 {n} 层，均值",
    "spread evenly": "均匀分配",
    "attention to the memory": "给记忆的注意力",
    "slot %{x}": "槽 %{x}",
    "mean of all heads of the layer": "本层各头的均值",
    "memory slot, the oldest at the left, the seam at the right": "记忆槽，最老的在左，接缝在右",
    "attention": "注意力",
    "after query %{x}": "查询 %{x} 之后",
    "up to query %{x}": "到查询 %{x} 为止",
    "saved so far, nats": "至此省下（nat）",
    "loss": "损失",
    "enough": "足够",
    "training, and enough": "训练时，也足够",
    "memory, tokens": "记忆（token）",
}
