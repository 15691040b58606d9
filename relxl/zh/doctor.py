"""Chinese texts of the page "Doctor"."""

TEXTS = {
    "Examining {name}": "正在检查 {name}",
    "{n} random frames": "{n} 帧随机数",
    "{n} random tokens": "{n} 个随机 token",
    ", which tell nothing of heads and losses": "，说明不了各个头和损失",
    "{n} frames, {memory} of them memory": "{n} 帧，其中 {memory} 帧是记忆",
    "{n} tokens of the text, {memory} of them memory": "文本的 {n} 个 token，其中 {memory} 个是记忆",
    "1 error": "1 个错误",
    "1 note": "1 条提示",
    "1 warning": "1 个警告",
    "{n} errors": "{n} 个错误",
    "{n} notes": "{n} 条提示",
    "{n} warnings": "{n} 个警告",
    "**{n} checks ran and found no error.**": "**跑了 {n} 项检查，没有发现错误。**",
    "error": "错误",
    "warning": "警告",
    "Examined: {name}, on {read}.": "检查对象：{name}，输入为{read}。",
    "Trained to see the future": "训练时看到了未来",
    "A sound one": "一个健康的",
    "Absolute positions": "绝对位置",
    "All": "全部",
    "Severity": "严重程度",
    "None of this severity.": "没有这一级的。",
    "Nothing was found.": "什么也没发现。",
    "The first {n} of {all}; the reports below have them all.": "这是 {all} 条中的前 {n} 条；下面的报告里全都有。",
    "Try: {advice}": "试试：{advice}",
    "Reported as {report}": "已有人报告过：{report}",
    "Evidence of {id}": "{id} 的证据",
    "cannot see": "看不出什么",
    "check": "检查",
    "found": "结果",
    "looks at": "查什么",
    "not run": "没有跑",
    "What was checked, and what each check cannot see": "查了什么，以及每项检查看不出什么",
    "An .npz or .safetensors of your own run: `probs.{layer}` or `logits.{layer}` [batch head query key], and what "
    "went in, `tokens` or `hidden`. The first tensor that disagrees is named, and what makes it agree.": (
        "你自己那次运行的 .npz 或 .safetensors：`probs.{layer}` 或 `logits.{layer}` [batch head query key]，以及输入 "
        "`tokens` 或 `hidden`。会指出第一个对不上的张量，以及怎样才能对上。"
    ),
    "Compare with a run of your own": "与你自己的一次运行比较",
    "Compared with {name}": "已与 {name} 比较",
    "Leave it out": "不再比较",
    "JSON": "JSON",
    "JUnit": "JUnit",
    "The whole report: one page that needs no network, plain values, or a test case a check.": (
        "完整的报告（英文）：一个无需网络的网页、一份纯数据，或每项检查一个测试用例。"
    ),
    "evidence": "证据",
    "It has no numbers beyond those in its sentence.": "除了那句话里的数字，没有更多的了。",
    "Show {place} on {page}": "在“{page}”页查看 {place}",
    "Open {page}": "打开“{page}”页",
    "root mean square of {tensor}": "{tensor} 的均方根",
    "A bar for every head of L{layer}: the {title}; the heads of the finding have a cross.": (
        "L{layer} 每个头一根条：{title}；这条结论涉及的头带叉号。"
    ),
    "root mean square of a row": "一行的均方根",
    "A curve over distance: the size of each row of the table of L{layer}; a band marks the finding.": (
        "随距离变化的曲线：L{layer} 的表每一行的大小；色带标出这条结论涉及的范围。"
    ),
    "entropy of the attention, nats": "注意力的熵（nat）",
    "Bars, one below the other: {title}. Smallest: {name}, {value}.": (
        "自上而下的横条：{title}。最小的是 {name}，{value}。"
    ),
    "A matrix, queries down and keys across: the first {n} cells of the finding are marked.": (
        "矩阵，查询向下，键向右：标出这条结论的前 {n} 个格子。"
    ),
    "The extent of the matrix, {rows} rows and {columns} columns: the first {n} such numbers are marked.": (
        "矩阵的范围，{rows} 行 {columns} 列：标出前 {n} 个这样的数。"
    ),
    "found here": "在此处发现",
    "row %{y}, column %{x}": "第 %{y} 行，第 %{x} 列",
    ":": "：",
    ", ": "，",
}
