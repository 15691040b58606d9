"""Chinese texts of the page "Lessons"; the lessons themselves are in relxl/lessons."""

SENTENCES = {
    "{0}, line {1}: found {2}, expected {3}": "{0} 第 {1} 行：读到{2}，应为{3}",
    "{0} has {1} bytes, expected no more than {2}: cut it into lessons": ("{0} 有 {1} 字节，应不超过 {2}：请分成几课"),
    "{0} is not UTF-8 at byte {1}: save it as UTF-8": "{0} 在第 {1} 字节处不是 UTF-8：请存成 UTF-8",
    "{0} is a lesson that can not be read: {1}": "{0} 这一课读不了：{1}",
}
WORDS = {
    "'# ' and the title of the lesson": "“# ”加上课名",
    "a step with nothing in it": "空的一步",
    "a text, a figure or a question": "正文、图或问题",
    "a lesson of {0} steps": "有 {0} 步的课",
    "no more than {0}": "至多 {0}",
    "a block that {0} opens and nothing closes": "以 {0} 开始而没有结束的块",
    "a line {0} after it": "其后的一行 {0}",
    "some of {0}": "其中几个：{0}",
    "no setting at all": "没有任何设置",
    "the setting {0} of {1}": "{1} 的设置 {0}",
    "the setting {0} a second time": "重复的设置 {0}",
    "each setting once": "每个设置只写一次",
    "a number from {0} to {1}": "从 {0} 到 {1} 的数",
    "a number, min or multiply": "一个数、min 或 multiply",
    "a single word or number": "单独一个词或数",
}
TEXTS = {
    "Lesson": "课",
    "All lessons": "全部课程",
    "Presenter": "演示模式",
    "Large type, one step a screen, arrow keys go on and back.": "大字号，一屏一步，用方向键前后翻。",
    "Right.": "对。",
    "Not this one.": "不是这个。",
    "Try it yourself: {page}": "亲手试试：{page}",
    "{done} of {n} steps": "{done} / {n} 步",
    "Lessons of your own: Markdown files in the folder that the environment variable {name} names. CONTRIBUTING.md "
    "says how they are written.": (
        "自己的课程：把 Markdown 文件放进环境变量 {name} 所指的文件夹。写法见 CONTRIBUTING.md。"
    ),
    # what a step needs
    "This step needs {what}, and no bundled model has it here: run `make train`.": (
        "这一步需要{what}，而这里没有自带的模型能满足：请运行 `make train`。"
    ),
    "This step needs {what}, which is not on screen: showing {name}.": "这一步需要{what}，屏幕上没有：改用 {name}。",
    "This question needs {what}: the model on screen has no answer to it.": (
        "这个问题需要{what}：屏幕上的模型答不了。"
    ),
    "a text of some tokens": "有几个 token 的文本",
    "relative positions": "相对位置",
    "absolute positions": "绝对位置",
    "a v_bias that is one curve of distance": "只随距离变化的 v_bias 曲线",
    "a learned table": "可学习的表",
    "a learned table with a record of its training": "带训练记录的可学习的表",
    "a memory": "记忆",
    "a model that predicts the next token": "会预测下一个 token 的模型",
    # figures
    "The absolute model that this step starts from is not here.": "这一步所依据的绝对位置模型不在这里。",
    "The terms {names}, and what moving the text by {n} places changes in each.": (
        "各项 {names}，以及把文本挪动 {n} 个位置后每一项的变化。"
    ),
    "A dot is a head, a line the formula.": "一个点是一个头，横线是公式。",
    "The recorded result is not here yet.": "记录的结果还不在这里。",
    "The recorded training is not here.": "记录的训练不在这里。",
    "Training loss falls to {low}, validation loss under the right mask rises to {high}.": (
        "训练损失降到 {low}，正确掩码下的验证损失升到 {high}。"
    ),
    "as it is": "照原样",
    "direction flipped, j − i": "方向颠倒，j − i",
    "wall at 1: itself, and the rest": "墙在 1：自己，和其余",
    "wall at 0: all distances are one": "墙在 0：不分远近",
    "errors": "错误",
    "warnings": "警告",
    "notes": "提示",
    "findings of the Doctor": "诊断结果的条数",
    # questions about scores
    "query {query}, key {key}": "查询 {query}，键 {key}",
    "Query {query} looks at key {key}. Which of these cells reads the same row of the table?": (
        "查询 {query} 看着键 {key}。下面哪一格读的是表的同一行？"
    ),
    "The text is too short for this question.": "文本太短，问不了这个问题。",
    "In this model several of these cells read one distance, so the question has no single answer.": (
        "在这个模型里，这些格子中有几个读同一个距离，所以答案不唯一。"
    ),
    "Distance m + i − j of the cell itself: **{distance}**; of the others:": (
        "这一格的距离 m + i − j：**{distance}** ；其余各格："
    ),
    "All keys of row {query} have the same score, so no term tells them apart.": (
        "第 {query} 行的键得分都相同，没有哪一项把它们区分开。"
    ),
    "Which term carries most of row {query} {token} in {head}?": "在 {head} 里，第 {query} 行 {token} 主要靠哪一项？",
    "Shares of what tells the keys of the row apart:": "在这一行里把键区分开，各项的占比：",
    "No head here looks back one token: the most is {share}.": "这里没有哪个头在看前一个 token：最多只有 {share}。",
    "Which head looks one token back?": "哪个头在看前一个 token？",
    "Attention to the token before, on average:": "给前一个 token 的注意力，平均：",
    "This model has a single head.": "这个模型只有一个头。",
    "Which of these distances does v like best in {head}?": "在 {head} 里，v 最喜欢下面哪个距离？",
    "v_bias at distance": "v_bias，按距离：",
    "The text has a single token, so there is nothing to prefer.": "文本里只有一种 token，没有什么可偏爱的。",
    "Which of these tokens does u like best in {head}, whoever asks?": (
        "在 {head} 里，不管谁来问，u 最喜欢下面哪个 token？"
    ),
    "u_bias of its best key:": "各自最高的键的 u_bias：",
    # questions about distances and masks
    "How many different rows of a long enough table does a score matrix of {q} queries and {k} keys read?": (
        "{q} 个查询、{k} 个键的得分矩阵，会读到一张足够长的表的多少个不同的行？"
    ),
    "On screen are {q} queries and {k} keys. How many different rows of a long enough table is that?": (
        "屏幕上有 {q} 个查询、{k} 个键。要读一张足够长的表的多少个不同的行？"
    ),
    "m + i − j runs from {low} to {high}: **{n}** distances, one for each diagonal of the matrix.": (
        "m + i − j 从 {low} 到 {high}：共 **{n}** 个距离，矩阵的每条对角线一个。"
    ),
    "The table of this model knows the past alone, so there is nothing to read at −d.": (
        "这个模型的表只有过去，−d 处没有可读的。"
    ),
    "Every layer reads row j − i in the place of i − j. What becomes of the loss on this text?": (
        "每一层都把 i − j 读成 j − i。这段文本的损失会怎样？"
    ),
    "Put the wall at {n}, so that all distances beyond share a row. What becomes of the loss on the text?": (
        "把墙放在 {n}，更远的距离共用一行。这段文本的损失会怎样？"
    ),
    "Loss on the text as it is: {before:.3f} nats per token; then: **{after:.3f}**.": (
        "文本的损失，照原样：{before:.3f} nat/token；改动之后：**{after:.3f}** 。"
    ),
    "The model's own wall stands at {own} already.": "模型自己的墙本来就在 {own}。",
    "The loss on this text is not a number, so nothing can be compared.": "这段文本的损失不是数，没法比较。",
    "lower": "降低",
    "equal, within {difference}": "不变（相差不到 {difference}）",
    "higher": "升高",
    "The table has {n} rows. How many of them did training never touch?": ("表有 {n} 行。其中有多少行训练从没碰过？"),
    "Rows without a single gradient: **{past}** of the past and **{future}** of the future.": (
        "从未得到梯度的行：过去的 **{past}** 行，未来的 **{future}** 行。"
    ),
    "no, exactly 0": "看不见，恰好是 0",
    "yes, below 1 %": "看得见，不到 1 %",
    "yes, 1 to 20 %": "看得见，1 到 20 %",
    "yes, above 20 %": "看得见，超过 20 %",
    "the row is NaN": "这一行是 NaN",
    "The mask: {order}, fill {fill}. Does query {query} of {head} see the future?": (
        "掩码：{order}，填充值 {fill}。{head} 的查询 {query} 看得见未来吗？"
    ),
    "Keys after query {query} get **{leak}** of its attention.": ("查询 {query} 之后的键得到它注意力的 **{leak}** 。"),
    "Laid after the sum: which fill is the first that leaves no row of {head} more than a millionth?": (
        "求和之后加掩码：从哪个填充值起，{head} 没有一行漏出超过百万分之一？"
    ),
    "Laid on the content alone: which fill is the first that leaves no row of {head} more than a millionth?": (
        "只给内容加掩码：从哪个填充值起，{head} 没有一行漏出超过百万分之一？"
    ),
    "none of these": "都不行",
    "The head is safe once the fill is below **{safe}**.": "填充值低于 **{safe}** 时，这个头就安全了。",
    # questions about fresh layers, cost, shifts
    "Double all five standard deviations. By what does ({letter}) {term} grow?": (
        "五个标准差全部加倍。({letter}) {term} 会增大到几倍？"
    ),
    "Measured over the heads of a fresh layer of this model's size: {before} becomes {after}, **{x}×**.": (
        "在与本模型同样大小的新层上，对各个头测量：{before} 变成 {after}，即 **{x}×** 。"
    ),
    "most are flat: they average": "大多平坦：只求平均",
    "most are neither": "大多两者都不是",
    "most are peaked: they stare at a few keys": "大多过尖：盯着少数几个键",
    "A fresh layer of this model's size, all five at {scale}. What do its {heads} heads do?": (
        "与本模型同样大小的新层，五个标准差都是 {scale}。它的 {heads} 个头怎么样？"
    ),
    "Flat: **{flat}**, peaked: **{peaked}**, neither: **{rest}**; mean entropy {entropy} of the possible.": (
        "平坦：**{flat}** ，过尖：**{peaked}** ，都不是：**{rest}** ；平均熵是最大可能的 {entropy}。"
    ),
    "How large is R written out for every pair, [{shape}], in one layer of this model, in float32?": (
        "在本模型的一层里，把 R 为每一对都抄出来，[{shape}]，float32，有多大？"
    ),
    "It is **{explicit}**, once for all heads. Projected it is {projected}; the table first is {table}.": (
        "**{explicit}** ，各个头共用一份。投影之后是 {projected}；先投影表则只有 {table}。"
    ),
    "The text is too long to count its cells one by one: give a shorter one.": (
        "文本太长，没法逐格去数：请换一段短的。"
    ),
    "On screen: {q} queries, a memory of {m}. Indexed by i − j, how many of the {n} visible cells are wrong?": (
        "屏幕上有 {q} 个查询，记忆长 {m}。若按 i − j 取下标，{n} 个可见格子里有多少个是错的？"
    ),
    "Every distance is m = {m} too small, so **{right}** of {n} cells read a foreign row.": (
        "每个距离都少了 m = {m}，所以 {n} 个格子里有 **{right}** 个读错了行。"
    ),
    "Which shift is this?": "这是哪一种移位？",
    "Cells that read a foreign row or distance:": "读错行或距离的格子数：",
    # questions about memory and models
    "Loss on the {n} tokens of the segment with memory: {a:.3f} nats per token; without: **{b:.3f}**.": (
        "片段里 {n} 个 token 的损失，有记忆：{a:.3f} nat/token；没有记忆：**{b:.3f}** 。"
    ),
    "Cut the memory to 0. What becomes of the loss on the tokens of this segment?": (
        "把记忆截成 0。这个片段的损失会怎样？"
    ),
    "Which of these heads reads most from the memory?": "下面哪个头从记忆里读得最多？",
    "Attention to the memory, on average:": "给记忆的注意力，平均：",
    "How must the positions of this model be read?": "这个模型的位置该怎么读？",
    "Loss on the text, nats per token:": "文本的损失（nat/token）：",
    "an error": "错误",
    "a warning": "警告",
    "a note": "提示",
    "nothing": "什么也没有",
    "What is the worst that the Doctor finds in {name}?": "“诊断”在 {name} 里找到的最严重的是什么？",
    "It has **{errors}** errors, **{warnings}** warnings and **{notes}** notes.": (
        "它有 **{errors}** 个错误、 **{warnings}** 个警告和 **{notes}** 条提示。"
    ),
}
TEXTS |= SENTENCES | WORDS
