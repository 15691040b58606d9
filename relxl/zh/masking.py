"""Chinese texts of the page "Masking"."""

TEXTS = {
    "The fill {fill} is not one: give a number such as -1e4, min or multiply. Showing −∞.": (
        "填充值 {fill} 无法识别：请给一个数，例如 -1e4，或者 min、multiply。现按 −∞ 显示。"
    ),
    "**This model sees both sides:** its mask hides padding alone, so there is no future that could leak in. What a "
    "causal mask would do to its scores:": (
        "**这个模型两边都看**：它的掩码只遮住 padding，所以没有可以漏进来的未来。下面是因果掩码会对它的得分做什么："
    ),
    "Ways to mask, right and wrong": "加掩码的各种方式，有对有错",
    "A rule of your own.": "你自己的规则。",
    "after the sum": "求和之后",
    "before the shift": "移位之前",
    "content only, before": "只对内容，求和之前",
    "lowest of dtype": "该类型的最小值",
    "multiply by mask": "乘以掩码",
    "every layer": "每一层",
    "this layer": "只在这一层",
    "Any number can be typed.": "可以直接输入任意数。",
    "Fill": "填充值",
    "Computed in": "计算精度",
    "Fault": "错误",
    "Keys that a query sees, itself among them; 0 is all of the past.": (
        "一个查询能看到多少个键，含它自己；0 表示过去的全部。"
    ),
    "Keys that a query sees, itself among them; 0 is the model’s own window, {n}.": (
        "一个查询能看到多少个键，含它自己；0 表示模型自己的窗口 {n}。"
    ),
    "Window": "窗口",
    "In": "范围",
    "(a) content": "(a) content",
    "(a) content, masked": "(a) content，已加掩码",
    "sum of the terms": "各项之和",
    "what the softmax gets": "softmax 的输入",
    "In {head} no forbidden key gets anything: the leak is exactly 0.0.": (
        "在 {head} 里，被禁止的键什么也没得到：泄漏恰好是 0.0。"
    ),
    "In {head} forbidden keys get **{mean}** of the attention on average, and **{most}** in row {row}.": (
        "在 {head} 里，被禁止的键平均得到 **{mean}** 的注意力，第 {row} 行最多，达 **{most}**。"
    ),
    "Allowed cells that are shut: {n}.": "本应可见却被关闭的格子：{n}。",
    "**Rows that are NaN: {n}**, because the mask leaves them no key.": (
        "**成为 NaN 的行：{n}**，因为掩码没有给它们留下任何键。"
    ),
    "They are set to 0 after the softmax, so what a row gave them is lost: its sum falls to {least}.": (
        "它们在 softmax 之后被置 0，一行给出去的就丢了：该行之和降到 {least}。"
    ),
    "Rows without a key, which get nothing: {n}.": "没有键、因而什么也得不到的行：{n}。",
    "Rows without a key that became uniform: {n}.": "没有键、因而变成均匀分布的行：{n}。",
    "The first number that is not finite, unasked, appears in: {step}.": "第一个不请自来的非有限数出现在：{step}。",
    "The best forbidden score stays {margin} below the best allowed one in the tightest row.": (
        "在最紧的一行里，最强的禁止得分比最强的允许得分低 {margin}。"
    ),
    "In the worst row a forbidden score beats every allowed one by {margin}.": (
        "在最糟的一行里，一个禁止得分比所有允许得分还高 {margin}。"
    ),
    "The model's loss on this text is **{wrong}** with this mask and {right} with the right one.": (
        "模型在这段文本上的损失：用这个掩码是 **{wrong}**，用正确的掩码是 {right}。"
    ),
    "sees the next key": "看到下一个键",
    "misses itself": "看不到自己",
    "memory forgotten": "漏算记忆",
    "inverted": "反了",
    "no mask": "没有掩码",
    "window short by one": "窗口少一个",
    "the lowest number of the dtype": "该类型的最小值",
    "After the sum of the terms a forbidden key gets {fill}.": "各项求和之后，被禁止的键被填为 {fill}。",
    "After the softmax its probability is set to 0, so that a row without a key gets nothing.": (
        "softmax 之后把它的概率置 0，这样没有键的行就什么也得不到。"
    ),
    "A query sees {n} keys, itself among them.": "一个查询看到 {n} 个键，含它自己。",
    "This model’s way": "这个模型自己的做法",
    "the code that it was trained with": "训练它的那份代码",
    "The right way": "正确的做法",
    "−∞ goes in after the sum of the terms. Its exponential is exactly 0, so no key of the future gets anything, "
    "not even a rounding error.": "在各项求和之后填入 −∞。它的指数恰好是 0，未来的键什么也得不到，连舍入误差都没有。",
    "Transformer-XL and every family after it": "Transformer-XL 以及之后的每个家族",
    "Early, but −∞": "早加，但用 −∞",
    "The content score is masked first and the position scores are added to it. Nothing leaks: −∞ plus any finite "
    "number is −∞.": "先给内容得分加掩码，再加上位置得分。没有泄漏：−∞ 加任何有限数还是 −∞。",
    "often called a bug, and it is none": "常被说成 bug，其实不是",
    "Content times mask": "内容乘以掩码",
    "The content score of a forbidden key becomes 0, and then the position scores are added. A distance of −1 is "
    "now open to every query, and position alone decides how much of the next token comes in.": (
        "被禁止的键的内容得分变成 0，然后再加上位置得分。距离 −1 于是对每个查询敞开，下一个 token 漏进来多少，全由位"
        "置决定。"
    ),
    "the bundled model shakespeare-leaky was trained this way": "随附的模型 shakespeare-leaky 就是这样训练的",
    "A fill of −10": "填充 −10",
    "The fill is a score like any other, and scores of −10 are common. Each forbidden key gets little, but there "
    "are many of them.": "填充值和别的得分没有两样，而 −10 的得分很常见。每个被禁止的键得到的不多，但这样的键很多。",
    "any fill that was chosen by eye": "一切凭感觉选的填充值",
    "A slipped sign": "写错符号",
    "−1e9 became 1e-9, which is 0. A forbidden key now gets as much as any key of score 0, and training looks "
    "wonderful.": "−1e9 写成了 1e-9，也就是 0。被禁止的键于是和得分为 0 的键一样多，训练损失好看得很。",
    "a public Transformer-XL file fills its padding with +1e-9": (
        "有一份公开的 Transformer-XL 代码用 +1e-9 填充它的 padding"
    ),
    "−1e4": "−1e4",
    "It holds as long as scores stay far above −10 000: the margin says how far. A model that is trained with it "
    "may learn to push them below.": (
        "只要得分远高于 −10 000 就守得住：余量说明还差多远。用它训练的模型可能学会把得分压到更低。"
    ),
    "The lowest float16": "float16 的最小值",
    "−65 504 plus a score below −16 is −∞ in float16, so the sum is not finite any more. Here the future stays "
    "shut; a row that is all padding would become NaN.": (
        "−65 504 再加上低于 −16 的得分，在 float16 里就是 −∞，于是总和不再有限。这里未来仍被挡住；但整行都是 padding "
        "的话就会变成 NaN。"
    ),
    "Before the shift": "移位之前",
    "A triangle is laid on q · p, and then the shift moves the rows. It lands elsewhere: allowed cells are shut, "
    "and forbidden ones are open.": (
        "三角形盖在 q · p 上，随后移位又把各行挪走。它落到了别处：该看的格子被关上，不该看的却开着。"
    ),
    "people ask about it in kimiyoung/transformer-xl#138": "有人在 kimiyoung/transformer-xl#138 里问过",
    "One too many": "多看一个",
    "The diagonal is off by one, so each query sees the next token, which is the answer. One layer leaks one token, "
    "n layers leak n.": "对角线差一格，每个查询都看到下一个 token，也就是答案。一层泄漏一个 token，n 层泄漏 n 个。",
    "triu with diagonal 2 in the place of 1": "triu 的 diagonal 写成 2，本应是 1",
    "One too few": "少看一个",
    "A query does not see itself. Without memory the first row has no key at all, the softmax of nothing is NaN, "
    "and the next layer spreads it over the whole text.": (
        "查询看不到自己。没有记忆时第一行一个键也没有，空集的 softmax 是 NaN，下一层再把它传遍整段文本。"
    ),
    "The mask compares i with j where the key stands at m + i. Nothing leaks, but most of the segment is shut: "
    "switch memory on to see it.": (
        "键在 m + i 处，掩码却拿 i 和 j 比。没有泄漏，但片段的大部分被关掉了：打开记忆就能看到。"
    ),
    "the same slip in a position bias: lucidrains/x-transformers#103": (
        "位置偏置里也有同样的疏忽：lucidrains/x-transformers#103"
    ),
    "Inverted": "反了",
    "True meant masked in one library and allowed in the other. Every query sees the future and nothing else, and "
    "the last row, which has no key left, sees all of them.": (
        "True 在一个库里表示遮住，在另一个库里表示允许。每个查询只看得到未来，而最后一行一个键也不剩，反倒看到了全部。"
    ),
    "No mask": "没有掩码",
    "The result of masked_fill was thrown away. Nothing warns: the probabilities still add up to 1.": (
        "masked_fill 的返回值被丢掉了。没有任何警告：概率之和照样是 1。"
    ),
    "Window short by one": "窗口少一个",
    "Each query should see 16 keys, itself among them, and sees 15. The oldest place is never read, and two ports "
    "of one model differ.": (
        "每个查询本应看到含自己在内的 16 个键，却只看到 15 个。最老的位置永远没人读，同一个模型的两份移植就此不同。"
    ),
    "Leak of each row": "每一行的泄漏",
    "No row gives a forbidden key anything.": "没有一行把注意力给被禁止的键。",
    "How deep must a finite fill be?": "有限的填充值要多低才够？",
    "In {head} no row leaks a millionth once the fill is below {after} (after the sum) or {before} (before).": (
        "在 {head} 里，填充值低于 {after}（求和之后）或 {before}（求和之前）时，没有一行的泄漏达到百万分之一。"
    ),
    "Thin lines are the other heads of the layer.": "细线是同一层的其他头。",
    "Before forbidden probabilities are set to 0, as this model’s code does.": (
        "这是在被禁止的概率置 0 之前；这个模型的代码会把它们置 0。"
    ),
    "Mean leak of every head": "每个头的平均泄漏",
    "layer": "层",
    "Does the order matter?": "顺序重要吗？",
    "*Often said:* mask the content score before the position score is added, and the future leaks.": (
        "*常见说法*：先给内容得分加掩码、再加位置得分，未来就会泄漏。"
    ),
    "*True:* with −∞ the order makes no difference, because −∞ + x = −∞ for every finite x, and exp(−∞) is exactly "
    "0. The order matters for a finite fill: before the sum it is no longer the lowest number, it is the lowest "
    "number plus the other three terms. Try “Early, but −∞” and then “Content times mask”.": (
        "*实际上*：用 −∞ 时顺序毫无影响，因为对任何有限的 x 都有 −∞ + x = −∞，而 exp(−∞) 恰好是 0。顺序只对有限的填充"
        "值有影响：填在求和之前，它就不再是最小的数，而是最小的数加上另外三项。先试“早加，但用 −∞”，再试“内容乘以掩"
        "码”。"
    ),
    "Which outputs move when a token is changed?": "改动一个 token，哪些输出会变？",
    "Which outputs move with a frame?": "改动一帧，哪些输出会变？",
    "Changing every token in turn": "正在逐个改动 token",
    "Of this model the attention alone is known, so no change can be followed from layer to layer: each layer is "
    "tested by itself, the keys of its input changed in turn.": (
        "这个模型只知道注意力部分，改动无法逐层追踪：因此每层单独测试，依次改动它输入中的键。"
    ),
    "by itself": "单独",
    "forbidden cells read": "读了的禁止格子",
    "allowed cells not read": "没读的允许格子",
    "log10 |difference| + 9": "log10 |差| + 9",
    "Every output before the changed token stays the same to the last bit: nothing leaks in this model.": (
        "被改动的 token 之前，每个输出都一比特不差：这个模型没有泄漏。"
    ),
    "Outputs are NaN, which hides whatever leaks: look at the layers below.": (
        "输出是 NaN，盖住了可能的泄漏：请看下面各层。"
    ),
    "The leak enters in **{layer}**; {n} pairs of (changed token, earlier output) move at the end.": (
        "泄漏从 **{layer}** 进来；到末尾共有 {n} 对（被改动的 token，更早的输出）发生变化。"
    ),
    "This model’s convolutions mix neighbouring frames whatever the mask is: what attention itself lets in stands "
    "in the table below.": "这个模型的卷积不管掩码如何都会混合相邻的帧：注意力自己放进来了什么，见下表。",
    "last hidden state": "最后的隐藏状态",
    "output logits": "输出 logits",
    "after L{layer}": "L{layer} 之后",
    "The last {n} tokens, read without memory. Row: the output, column: the token that was changed.": (
        "最后 {n} 个 token，不带记忆读取。行：输出；列：被改动的 token。"
    ),
    "The last {n} frames, read without memory. Row: the output, column: the frame that was changed.": (
        "最后 {n} 帧，不带记忆读取。行：输出；列：被改动的帧。"
    ),
    "The last {n} tokens, read over a memory of zeros. Row: the output, column: the token changed.": (
        "最后 {n} 个 token，带零向量记忆读取。行：输出；列：被改动的 token。"
    ),
    "Compared bit by bit, so that a leak of 1e-7 has a colour.": "逐比特比较，1e-7 的泄漏也有颜色。",
    "masked before the shift": "移位之前加的掩码",
    "a fill that does not hold, after the sum": "填充值守不住，在求和之后",
    "a fill that does not hold, before the sum": "填充值守不住，在求和之前",
    "cannot be told: its scores are not finite": "无法判断：它的得分不是有限数",
    "leaks, by none of the known ways": "有泄漏，但不是已知的任何一种",
    "What training makes of a leak": "训练会拿泄漏做什么",
    "A small model was trained with its content score multiplied by the mask before the position score was added. "
    "Its loss reached **{leaky:.3f}** nats per character, which no language model can; under the right mask the "
    "same weights have {right:.3f}.": (
        "我们训练了一个小模型，在加位置得分之前把内容得分乘以掩码。它的损失降到 **{leaky:.3f}** nat/字符，没有语言模"
        "型做得到；用正确的掩码，同一组权重是 {right:.3f}。"
    ),
    "Choose {name} in the sidebar to look at its heads. Made by:": "在侧边栏选 {name}，就能看它的头。生成命令：",
    "s is the sum of the four terms; r is what is added to the fill F: 0 where the mask comes after the sum, the "
    "other three terms where it comes before. `relxl.masking.mask_scores` sends the terms through a `MaskRule`, in "
    "the dtype that it names; a model takes the same rule as an argument, `model(tokens, rule=...)`, and nothing is "
    "patched. `relxl.causality.causality_test` changes every token in turn and compares bits; `layer_leaks` changes "
    "the keys of one layer at a time and names what it finds.": (
        "s 是四项之和；r 是加到填充值 F 上的量：掩码在求和之后则为 0，在求和之前则为另外三项。"
        "`relxl.masking.mask_scores` 按 `MaskRule` 指定的精度处理各项；模型以参数形式接受同样的规则，`model(tokens, "
        "rule=...)`，不打任何补丁。`relxl.causality.causality_test` 依次改动每个 token 并逐比特比较；`layer_leaks` 每"
        "次改动一层的键，并说出它找到的是哪一种泄漏。"
    ),
    "probability on forbidden keys": "被禁止的键得到的概率",
    "fill −%{x:.3g}": "填充值 −%{x:.3g}",
    "safe below −%{x:.3g}": "低于 −%{x:.3g} 即安全",
    "−fill (the mask is deeper to the right)": "−填充值（越往右掩码越低）",
    "leaked probability, mean": "漏出的概率，均值",
    "training, with the leak": "训练，带泄漏",
    "validation, under the right mask": "验证，用正确的掩码",
}
