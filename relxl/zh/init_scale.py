"""Chinese texts of the page "Initialisation"."""

TEXTS = {
    "The article's 0.02": "文中的 0.02",
    "Too small to matter": "小到不起作用",
    "Ten times": "十倍",
    "Saturated": "饱和",
    "A sinusoid at 0.02": "0.02 的正弦",
    "Standard deviation": "标准差",
    "apart": "分开设",
    "together": "一起设",
    "The five": "五个尺度",
    "table": "表",
    "the text": "文本",
    "unit normal": "单位正态",
    "Input": "输入",
    "learned table": "可学习的表",
    "sinusoid": "正弦",
    "Positions": "位置",
    "Length": "长度",
    "Seed": "种子",
    "Head shown": "显示的头",
    "Scores spread by **{total}**, and the attention has **{entropy}** of the entropy that is possible.": (
        "得分的散布为 **{total}**，注意力的熵是可能最大值的 **{entropy}**。"
    ),
    "{flat} of {heads} heads are flat: they average, whatever the scores say.": (
        "{heads} 个头中有 {flat} 个是平的：不管得分说什么，它们只取平均。"
    ),
    "{peaked} of {heads} heads are peaked: nearly all of a row is on a few keys.": (
        "{heads} 个头中有 {peaked} 个过尖：一行的注意力几乎全在少数几个键上。"
    ),
    "Of a gradient of the output, {gradient} reaches the scores.": "输出的梯度有 {gradient} 传到得分。",
    "How large is each term?": "每一项有多大？",
    "A dot is a head, a line the formula. The largest gap is that of {term}: {ratio} times the formula.": (
        "一点是一个头，一条线是公式。差距最大的是 {term}：为公式的 {ratio} 倍。"
    ),
    "How sharp is each head?": "每个头有多尖锐？",
    "Entropy over its largest value, log of the number of visible keys, the mean over the rows.": (
        "熵与其最大值（可见键数的对数）之比，对各行取平均。"
    ),
    "Over four decades": "跨越四个数量级",
    "{n} scales × {seeds} seeds × lengths {lengths}": "{n} 个尺度 × {seeds} 个种子 × 长度 {lengths}",
    "chosen": "当前",
    "entropy of the attention": "注意力的熵",
    "share of degenerate heads": "退化头的比例",
    "{title} against the initial scale; the band is the range over {seeds} seeds.": (
        "{title}随初始尺度的变化；色带是 {seeds} 个种子之间的范围。"
    ),
    "Train it": "训练它",
    "Scales": "尺度",
    "Two to six. Add half of one to check the advice to halve it.": (
        "两到六个。加上其中某个的一半，就能检验“减半”的建议。"
    ),
    "Steps": "步数",
    "Learning rate": "学习率",
    "Choose two scales or more.": "请选两个或更多尺度。",
    "{n} models of 2 layers × 4 heads, d_model 64, on {text}, {steps} steps, the same batches": (
        "{n} 个模型，2 层 × 4 头，d_model 64，文本 {text}，{steps} 步，批次相同"
    ),
    "Loss by step of each initial scale, in nats per token. Lowest at the end: {scale}, with {loss}.": (
        "每个初始尺度的损失随步数的变化，单位 nat/token。结束时最低的是 {scale}，为 {loss}。"
    ),
    "scale": "尺度",
    "loss of the last tenth": "最后十分之一的损失",
    "oscillation": "振荡",
    "Halving {scale} {did} the oscillation: {score} became {half}.": "把 {scale} 减半{did}振荡：{score} 变成 {half}。",
    "did not lower": "没有减轻",
    "lowered": "减轻了",
    "One attention layer as a fresh model has it, biases 0, m₂ the mean square of its input. The formulas take "
    "weights and rows of the input as independent: tokens that repeat have something in common, so with a text the "
    "measured terms stay below. `relxl.experiments.init_scale` measures; the same runs headless as `python -m relxl "
    "sweep init-scale`.": (
        "一个全新模型的单个注意力层，偏置为 0，m₂ 是输入的均方。公式假定权重与输入各行相互独立：重复出现的 token 有共"
        "同之处，所以用文本时实测的项会低于公式。测量由 `relxl.experiments.init_scale` 完成；同样的实验可以不开界面运"
        "行：`python -m relxl sweep init-scale`。"
    ),
    "head %{customdata}": "头 %{customdata}",
    "formula": "公式",
    "standard deviation of the scores": "得分的标准差",
    "too flat above": "高于此线则太平",
    "too peaked below": "低于此线则太尖",
    "length {n}": "长度 {n}",
    "scale %{x:.3g}": "尺度 %{x:.3g}",
    "initial scale": "初始尺度",
}
