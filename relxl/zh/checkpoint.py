"""Chinese texts of the page "Checkpoint"."""

TEXTS = {
    "**The same names are those of {others}.**": "**{others} 的名字与此相同。**",
    "vocabulary {n}": "词表 {n}",
    "known by": "识别依据",
    "file": "文件",
    "{tensors} tensors, {numbers} parameters": "{tensors} 个张量，{numbers} 个参数",
    "sizes": "规模",
    "{layers} × {heads} of {d_head}, d\\_model {d_model}, {tokens}": (
        "{layers} × {heads}，每头 {d_head} 维，d\\_model {d_model}，{tokens}"
    ),
    "1 head": "1 头",
    "{n} heads": "{n} 头",
    "u and v": "u 和 v",
    "embeddings": "嵌入",
    "What it is": "它是什么",
    "{n} MB": "{n} MB",
    "segment {n}": "片段 {n}",
    "memory without a limit": "记忆不设上限",
    "no memory": "没有记忆",
    "distances beyond {n} are clamped": "超过 {n} 的距离被截断",
    "no clamp": "不截断",
    "a query sees both sides": "查询看到两边",
    "a query sees the past": "查询只看过去",
    "absolute: a sinusoid of a token’s place is added to its embedding, there are no distances": (
        "绝对位置：token 的嵌入加上其所在位置的正弦，没有距离"
    ),
    "a learned table for the distances {first} to {last}": "可学习的表，距离 {first} 到 {last}",
    "beyond it the last row": "超出则用最后一行",
    "beyond it there is nothing": "超出则什么也没有",
    "v_bias is learned as a curve of its own": "v_bias 是单独学出的一条曲线",
    "a learned table for the distances −{n} to {n}, beyond it the last row, projected by W_kR": (
        "可学习的表，距离 −{n} 到 {n}，超出则用最后一行，经 W_kR 投影"
    ),
    "a sinusoid of |d|, projected by W_kR: past and future are not told apart": (
        "|d| 的正弦，经 W_kR 投影：不区分过去与未来"
    ),
    "a sinusoid, projected by W_kR": "正弦，经 W_kR 投影",
    "{names} of a single layer": "单独一层的 {names}",
    "{names} shared by all {n} layers: the file holds them once": "{names} 由全部 {n} 层共用：文件里只存一份",
    "{names} shared by all {n} layers: stored for each, and equal in every number": (
        "{names} 由全部 {n} 层共用：每层各存一份，数值完全相等"
    ),
    "{names} of each layer are its own: their numbers differ between the {n} layers": (
        "{names} 每层各有一份：{n} 层的数值各不相同"
    ),
    "one matrix for input and output": "输入与输出共用一个矩阵",
    "input and output are stored apart and equal in every number": "输入与输出分开存放，数值完全相等",
    "input and output have matrices of their own: their numbers differ": "输入与输出各有自己的矩阵：数值不同",
    "What plays a part": "哪些张量起作用",
    "All {n} tensors are part of the model or follow from it.": "全部 {n} 个张量都属于模型，或可由模型推出。",
    "**{used} of {n} tensors** are part of the model or follow from it; {rest} play no part here.": (
        "**{n} 个张量中有 {used} 个**属于模型，或可由模型推出；{rest} 个在这里不起作用。"
    ),
    "Names of the others": "其余张量的名字",
    "The first {n} of {all}; the census has them all.": "这是 {all} 个中的前 {n} 个；下面的全部张量清单里都有。",
    "`relxl.containers.read_weights` turns the file into tensors without running anything in it, and "
    "`relxl.families.open_tensors` knows the family by names and shapes alone. What it can not know is a setting "
    "with an origin. `relxl.weights_only.v_bias_curves` is v\\_bias of all heads, [head distance]; `answers` opens "
    "the same tensors once for each answer and reads off which row each cell takes; `gauge` is the length of u, v "
    "and the bias of the query projection, whose sum with them gives the same score: (q + b + u) · k + (q + b + v) "
    "· p. `relxl.census.census` measures every tensor, and `relxl.tensor_view.picture` lets the number of largest "
    "magnitude stand for a block of cells.": (
        "`relxl.containers.read_weights` 把文件变成张量，不运行其中任何东西；`relxl.families.open_tensors` 只凭名字和"
        "形状认出家族。它无从得知的，就是一项带来源的设置。`relxl.weights_only.v_bias_curves` 是所有头的 v\\_bias，"
        "[head distance]；`answers` 按每种回答各打开一次同样的张量，并读出每个格子取哪一行；`gauge` 是 u、v 和查询投"
        "影偏置的长度，后者分别与前两者相加给出同样的得分：(q + b + u) · k + (q + b + v) · p。`relxl.census.census` "
        "测量每个张量，`relxl.tensor_view.picture` 用绝对值最大的数代表一块格子。"
    ),
    "What each answer gives, for {head}": "每种回答给出什么，以 {head} 为例",
    "v_bias over distance, one curve an answer: {names}.": "v_bias 随距离的变化，一种回答一条曲线：{names}。",
    "answer": "回答",
    "size of W_k": "W_k 的大小",
    "size of W_q": "W_q 的大小",
    "Rows of in_proj that are query, key and value of H{head}: {turns} under false, {apart} under true.": (
        "in_proj 中属于 H{head} 的查询、键和值的行：false 时为 {turns}，true 时为 {apart}。"
    ),
    "as read now": "当前读法",
    "v\\_bias differs most at distance {d}, by **{gap}**.": "v\\_bias 在距离 {d} 处差别最大，为 **{gap}**。",
    "v\\_bias is the same under every answer.": "v\\_bias 在每种回答下都相同。",
    "v\\_bias has no finite number.": "v\\_bias 没有一个有限数。",
    "**{n} of {size} cells** of a small score read something else or are seen by one answer alone.": (
        "一个小得分矩阵的 **{size} 个格子中有 {n} 个**读的东西不同，或只在一种回答下可见。"
    ),
    "What every cell reads and sees is the same too: queries and keys are made of something else.": (
        "每个格子读什么、看到什么也都相同：不同的是查询和键由什么组成。"
    ),
    "Every answer gives the same here, as far as weights alone can tell.": (
        "在这里，就权重所能说明的而言，每种回答结果都一样。"
    ),
    "Drawn for a memory of {n}.": "按 {n} 的记忆绘制。",
    "True shows the second half of a batch; the first half is read as under false.": (
        "true 显示批次的后一半；前一半的读法与 false 相同。"
    ),
    "query {query}, key {key}: row {row} at distance {distance}": (
        "查询 {query}，键 {key}：第 {row} 行，距离 {distance}"
    ),
    "query {query}, key {key}: reads no position": "查询 {query}，键 {key}：不读位置",
    "the mask hides it": "被掩码遮住",
    "{hidden} cells are hidden, {foreign} visible ones read a foreign row or distance.": (
        "{hidden} 个格子被遮住，可见的格子中有 {foreign} 个读了别人的行或距离。"
    ),
    "the distance that the cell reads": "格子所读的距离",
    "another distance than its own, or (i:) another query’s row": "不是自己的距离，或（i:）别的查询的行",
    "reads no position": "不读位置",
    "hidden by the mask": "被掩码遮住",
    "What is added to a variance before the root: it hardly shows unless the input is tiny.": (
        "开根号前加到方差上的数：除非输入极小，否则几乎看不出来。"
    ),
    "Whose code reads the file: how it masks, and what else it asks.": (
        "按谁的代码来读这个文件：它怎样加掩码，还要问些什么。"
    ),
    "Which row of the table a cell reads. Legacy reads rows from the far end of a reversed one.": (
        "一个格子读表的哪一行。legacy 从反向表的远端开始读。"
    ),
    "Cells of the future read no position: (b) and (d) are 0 there.": "未来的格子不读位置：(b) 和 (d) 在那里为 0。",
    "How many rows the reversed table of legacy has: it moves every distance.": (
        "legacy 的反向表有多少行：它会平移每个距离。"
    ),
    "Whether a query sees both sides or the past alone, in every layer.": "在每一层里，查询看到两边还是只看过去。",
    "Whether a query sees the past alone. The score itself stays.": "查询是否只看过去。得分本身不变。",
    "Which rows of in_proj are query, key and value: other rows, other (a), (b) and (c).": (
        "in_proj 的哪些行是查询、键和值：行不同，(a)、(b)、(c) 就不同。"
    ),
    "Beyond this distance all keys are equally far: (b) and (d) stay level. −1 is no clamp.": (
        "超过这个距离，所有键都一样远：(b) 和 (d) 保持不变。−1 表示不截断。"
    ),
    "Each query sees equally many keys: the oldest of the memory are hidden.": (
        "每个查询看到同样多的键：记忆中最老的那些被遮住。"
    ),
    "The second half of a batch reads distances with the other sign.": "批次的后一半以相反的符号读距离。",
    "The norm comes before the projections and not after the sum: another input to every term.": (
        "归一化放在投影之前，而不是求和之后：每一项的输入都不同。"
    ),
    "How many tokens are kept from before: more keys, larger distances. In XLNet 0 is no limit.": (
        "保留之前的多少个 token：越多，键就越多，距离就越大。在 XLNet 中 0 表示不设上限。"
    ),
    "How many tokens are read at once. It changes no score, only where a segment ends.": (
        "一次读多少个 token。它不改变得分，只决定片段在哪里结束。"
    ),
    "How many of the newest steps the memory leaves out.": "记忆略去最新的多少步。",
    "How much of a segment goes into the memory.": "一个片段有多少进入记忆。",
    "Where the vocabulary is cut into clusters: it changes which token a row belongs to.": (
        "词表在哪里切成簇：它决定一行属于哪个 token。"
    ),
    "The function inside the feed-forward: it changes the input of every later layer.": (
        "前馈层里的激活函数：它改变后面每一层的输入。"
    ),
    "The function inside the feed-forward: it changes the input of every layer.": (
        "前馈层里的激活函数：它改变每一层的输入。"
    ),
    "Whether anything is kept from before at all.": "到底要不要保留之前的任何东西。",
    "What tensors can not tell": "张量说不清的事",
    "**The file leaves {n} of {all} questions open.** What stands there is assumed: answer what you know.": (
        "**{all} 个问题中有 {n} 个文件没有回答**。这里的值是假定的：请填上你知道的。"
    ),
    "What the config says: {names}": "配置里写明的：{names}",
    "**the file does not say**": "**文件没有说明**",
    "you chose this": "由你选定",
    "the file says so": "文件中写明",
    "Read it as the file says, or as it is assumed": "按文件写明的读，没有写明就按假定的读",
    "Take back": "撤回",
    "20000, 40000": "20000, 40000",
    "the choice": "所选的值",
    "{text} is not one: give numbers such as {sample}": "{text} 不是有效的回答：请给出形如 {sample} 的数",
    "Measuring {n} numbers": "正在测量 {n} 个数",
    "Only what plays no part": "只看不起作用的",
    "plays a part": "起作用",
    "exactly 0": "恰为 0",
    "The table as it stands, one line a tensor": "原样列出的表格，每个张量一行",
    "{n} tensors.": "{n} 个张量。",
    "**Not finite: {k} numbers in {n} of them**, first in {name}.": (
        "**非有限数：{n} 个张量中共有 {k} 个**，第一个在 {name}。"
    ),
    "Every number is finite.": "所有数都是有限的。",
    "All zero: {n}, first {name}.": "全为零：{n} 个，第一个是 {name}。",
    "Look into": "看看里面",
    "This tensor has shape {shape} and holds no number.": "这个张量的形状是 {shape}，里面没有数。",
    "Axis {axis} of {size}": "第 {axis} 轴，长 {size}",
    "The picture is [{rows} {cols}] at this place.": "图是这个位置上的 [{rows} {cols}]。",
    "entry": "下标",
    "First {axis}": "起始{axis}",
    "How many, of {size}": "取多少，共 {size}",
    "This is a window of {cells} of {all} numbers.": "这是 {all} 个数中 {cells} 个的窗口。",
    "Each cell is the number of largest magnitude of {rows} × {cols}; take fewer rows or columns for all.": (
        "每个格子取 {rows} × {cols} 个数中绝对值最大的一个；行数或列数取少些，就能看到全部。"
    ),
    "No number here is finite.": "这里没有有限数。",
    "Every finite number here is 0.": "这里的有限数全为 0。",
    "The largest number by magnitude is **{value}**, at row {row}, column {column}; exactly 0: {zero}.": (
        "绝对值最大的数是 **{value}**，在第 {row} 行、第 {column} 列；恰为 0 的：{zero}。"
    ),
    "**Not finite: {k} cells** ({kinds}).": "**非有限：{k} 个格子**（{kinds}）。",
    "{n} of {all}": "{all} 个中的 {n} 个",
    "The largest number by magnitude is **{value}**, at {place}.": "绝对值最大的数是 **{value}**，在 {place}。",
    "**Not finite: {k} cells**, left out of the curve.": "**非有限：{k} 个格子**，没有画进曲线。",
    "Most of its numbers, {share}, lie between {low} and {high}.": "其中大部分（{share}）在 {low} 与 {high} 之间。",
    "count": "个数",
    "from": "从",
    "All {n} numbers of the tensor.": "张量的全部 {n} 个数。",
    "{n} of {all} numbers, taken at equal steps.": "{all} 个数中等间隔取的 {n} 个。",
    "Not finite and left out: {k}.": "非有限、已略去：{k}。",
    "(d) v_bias of every head, from the weights alone": "每个头的 (d) v_bias，只由权重得出",
    "This model has absolute positions, so no number belongs to a distance: its fourth term depends on two places "
    "and is not one curve.": "这个模型用绝对位置，没有哪个数只属于距离：它的第四项取决于两个位置，不是一条曲线。",
    "**Not finite: {k} numbers**, left out.": "**非有限：{k} 个数**，已略去。",
    "training and table end": "训练与表到此为止",
    "All {n} heads of layer {layer}; {name} is bold. No text was read.": (
        "第 {layer} 层的全部 {n} 个头；{name} 加粗。没有读任何文本。"
    ),
    "The curve of {name} has no finite number.": "{name} 的曲线没有有限数。",
    "The curve of {name} is level: position alone says nothing here.": (
        "{name} 的曲线是平的：单凭位置，在这里什么也没说。"
    ),
    "The curve of **{name}** is highest at distance {high} ({top}) and lowest at {low} ({bottom})": (
        "**{name}** 的曲线在距离 {high} 处最高（{top}），在 {low} 处最低（{bottom}）"
    ),
    "In the past the curve of **{name}** is highest at distance {high} ({top}), lowest at {low} ({bottom})": (
        "在过去一侧，**{name}** 的曲线在距离 {high} 处最高（{top}），在 {low} 处最低（{bottom}）"
    ),
    "; it has fallen half of that way at {n}.": "；到 {n} 处已降下一半。",
    "The bias on the query": "查询上的偏置",
    "The query projection has no bias here, so the four terms are what they are: there is one way to count.": (
        "这里的查询投影没有偏置，四项就是它们本来的样子：只有一种算法。"
    ),
    "W\\_q adds a bias b to every query, and in every cell that acts as if both u and v were longer by b: (q + b + "
    "u) · k + (q + b + v) · p. In layer {layer} it is **{ratio} times** as long as u, on average. The code counts "
    "it to (a) and (b), where this app leaves it; counted as in the paper, (c) and (d) would have it. The sum is "
    "the same.": (
        "W\\_q 给每个查询都加上偏置 b，在每个格子里，这等于 u 和 v 都长了 b：(q + b + u) · k + (q + b + v) · p。在第 "
        "{layer} 层，它的长度平均是 u 的 **{ratio} 倍**。代码把它算进 (a) 和 (b)，本应用也照此处理；若按论文的算法，"
        "它该归 (c) 和 (d)。总和不变。"
    ),
    "Lengths of the vectors of {n} heads: the bias {b}, u {u}, on average.": (
        "{n} 个头的向量长度：偏置平均 {b}，u 平均 {u}。"
    ),
    "(v + b) · p, as the paper would": "(v + b) · p，按论文的算法",
    "v · p, as the code counts": "v · p，按代码的算法",
    "v_bias of L{layer}H{head} counted both ways: they differ by up to {most}.": (
        "L{layer}H{head} 的 v_bias 按两种算法：最多相差 {most}。"
    ),
    "distance, tokens (positive is the past)": "距离（token，正数表示过去）",
    "distance into the past, tokens": "往过去的距离（token）",
    "near %{x:.3g}": "约 %{x:.3g}",
    "how many": "个数",
}
