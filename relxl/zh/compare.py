"""Chinese texts of the page "Compare"."""

TEXTS = {
    "a: {name}": "a：{name}",
    "b: {name}": "b：{name}",
    "Training film": "训练影片",
    "Two checkpoints": "两个检查点",
    "Learned table against sinusoid": "可学习的表对正弦",
    "Relative against absolute": "相对位置对绝对位置",
    "Ours against its authors' code": "我们的对作者代码的",
    "Watch a training": "看一次训练",
    "There is no second checkpoint: upload one on the page Checkpoint, or train one.": (
        "没有第二个检查点：请在“检查点”页上传一个，或者训练一个。"
    ),
    "Compare {name} (a) with (b)": "{name}（a）与（b）对比",
    "Tensors that differ most": "差别最大的张量",
    "(d) v_bias of {name} in both": "两边 {name} 的 (d) v_bias",
    "No tensor of one has the name and shape of one of the other, so their weights can not be compared.": (
        "两边没有名字和形状都相同的张量，权重无从比较。"
    ),
    "**{equal} of {n}** tensors of the same name and shape are equal in every number.": (
        "名字和形状都相同的 {n} 个张量中，**有 {equal} 个**数值完全相等。"
    ),
    "no finite measure": "没有有限的度量",
    "**{name}** differs most: {change}.": "**{name}** 差别最大：{change}。",
    "Not comparable: {missing} only in a, {new} only in b, {reshaped} of other shapes.": (
        "无法比较：{missing} 个只在 a 里，{new} 个只在 b 里，{reshaped} 个形状不同。"
    ),
    "from all zeros": "从全零变来",
    "b has {n} layers, so there is no L{layer} in it.": "b 有 {n} 层，所以没有 L{layer}。",
    "a": "a",
    "b": "b",
    "{which} has absolute positions: it has no curve over distance.": "{which} 用绝对位置：没有随距离变化的曲线。",
    "b has {n} heads, so there is no H{head} in it.": "b 有 {n} 个头，所以没有 H{head}。",
    "v_bias of **{name}**: correlation over distance {like}, its range {a} in a and {b} in b.": (
        "**{name}** 的 v_bias：随距离的相关系数 {like}，范围在 a 中为 {a}，在 b 中为 {b}。"
    ),
    "Do u and v point the same way?": "u 和 v 指向同一方向吗？",
    "u and v have other lengths (d\\_head {sizes}), so no angle lies between them.": (
        "u 和 v 的长度不同（d\\_head {sizes}），它们之间没有夹角可言。"
    ),
    "Mean cosine over {n} heads of layer {layer}: {means}.": "第 {layer} 层 {n} 个头的平均余弦：{means}。",
    "Trainings that start from different seeds end in different bases: near 0 is what to expect there.": (
        "从不同种子出发的训练会落在不同的基底上：接近 0 是意料之中的。"
    ),
    "cosine": "余弦",
    "only in a": "只在 a",
    "only in b": "只在 b",
    "other shape": "形状不同",
    "shapes": "形状",
    "why not compared": "为何没有比较",
    "Tensors are matched by name and shape, `relxl.compare.compare_tensors`: the Frobenius norm of b − a over that "
    "of a, the cosine of both as long vectors, the largest difference; all in float64. v\\_bias is scale · v · "
    "W\\_kR R\\_d over distance, from weights alone, `relxl.weights_only.v_bias_curves`. A term's share is its "
    "covariance with the logits over their variance, summed over the rows of a head, "
    "`relxl.diagnostics.head_shares`.": (
        "张量按名字和形状配对，见 `relxl.compare.compare_tensors`：b − a 的 Frobenius 范数与 a 的之比、两者展成长向量"
        "的余弦、最大差；一律用 float64。v\\_bias 是随距离变化的 scale · v · W\\_kR R\\_d，只由权重得出，见 "
        "`relxl.weights_only.v_bias_curves`。一项的占比是它与 logits 的协方差除以 logits 的方差，对一个头的各行求和，"
        "见 `relxl.diagnostics.head_shares`。"
    ),
    "There is no training to watch: `train --snapshots 0,100,1000` keeps the model at those steps.": (
        "没有训练过程可看：`train --snapshots 0,100,1000` 会保存这些步上的模型。"
    ),
    "Training": "训练",
    "Its layer": "它的层",
    "Training step": "训练步",
    "(d) v_bias of every head of L{layer}, from the weights alone": "L{layer} 每个头的 (d) v_bias，只由权重得出",
    "This model has absolute positions: it has no curve over distance.": "这个模型用绝对位置：没有随距离变化的曲线。",
    "Bold: step {step}. Fading: the snapshots before it. The scale is that of the whole training.": (
        "加粗：第 {step} 步。渐淡：之前的各个快照。刻度按整个训练过程。"
    ),
    "At step **{step}** the curves have no finite number.": "在第 **{step}** 步，曲线没有有限数。",
    "At step **{step}** the curve of **L{layer}H{head}** spans most: {now}; at the last one it spans {end}.": (
        "在第 **{step}** 步，**L{layer}H{head}** 的曲线跨度最大：{now}；在最后一步跨度为 {end}。"
    ),
    "The loss on the text is {now} nats": "文本上的损失为 {now} nat",
    "The validation loss is {now} nats": "验证损失为 {now} nat",
    ", at the snapshot before {before}": "，前一个快照时为 {before}",
    "Tensors that moved most since the snapshot before": "自前一个快照以来变化最大的张量",
    "This is the first snapshot: move the slider to see what the training changed.": (
        "这是第一个快照：移动滑块，看训练改变了什么。"
    ),
    "No tensor moved from step {before} to {step}.": "从第 {before} 步到第 {step} 步，没有张量变化。",
    "From step {before} to {step} **{name}** moved most, by {change} of its size; {n} of {all} did not move.": (
        "从第 {before} 步到第 {step} 步，**{name}** 变化最大，为其大小的 {change}；{all} 个中有 {n} 个没有变。"
    ),
    "Over the whole training": "整个训练过程",
    "film's own sample": "影片自带的样本",
    "text in view": "当前文本",
    "validation": "验证",
    "No loss was written down, and these models predict no next token.": (
        "没有记录损失，而这些模型也不预测下一个 token。"
    ),
    "Loss from the first to the last snapshot: {ends}.": "从第一个快照到最后一个的损失：{ends}。",
    "These models read no tokens, so there is no text to share a score on.": (
        "这些模型不读 token，所以没有文本可用来分摊得分。"
    ),
    "Share of the score at step {step}, mean over the heads of L{layer}: {shares}.": (
        "第 {step} 步各项在得分中的占比，L{layer} 各头的均值：{shares}。"
    ),
    "share of the score": "得分中的占比",
    "Length from the first to the last snapshot, mean over the heads of L{layer}: {ends}.": (
        "从第一个快照到最后一个的长度，L{layer} 各头的均值：{ends}。"
    ),
    "What carries the scores, on the text in view": "得分靠什么支撑，在当前文本上",
    "The two do not read the same vocabulary, so no text is the same to both.": (
        "两者读的词表不同，没有一段文本对两者是相同的。"
    ),
    "b has {n} layers: choose one of them in the sidebar.": "b 有 {n} 层：请在侧边栏选其中一层。",
    "({letter}) {term} differs most, in L{layer}H{head}: {a} in a, {b} in b.": (
        "({letter}) {term} 差别最大，在 L{layer}H{head}：a 中 {a}，b 中 {b}。"
    ),
    "Only one of the two has {terms}: not drawn, but in its sum.": (
        "两者中只有一个有 {terms}：没有单独画出，但算在总和里。"
    ),
    "One of the two does not predict the next token, so their losses can not be compared.": (
        "两者之一不预测下一个 token，所以损失无法比较。"
    ),
    "Loss on this text, read as one segment: a **{a}**, b **{b}** nats per token.": (
        "把这段文本当作一个片段来读的损失：a 为 **{a}**，b 为 **{b}** nat/token。"
    ),
    "from zero": "从零变来",
    "not finite": "非有限",
    "change |b − a| / |a|": "变化 |b − a| / |a|",
    "hollow: a, filled: b": "空心：a，实心：b",
    "cosine of a and b": "a 与 b 的余弦",
    "step %{customdata}": "第 %{customdata} 步",
    "training step": "训练步",
}
