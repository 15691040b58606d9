"""Chinese texts of the page "Shift"."""

TEXTS = {
    "Found in {source}": "见于 {source}",
    "causal": "因果",
    "A language model has a causal mask; an encoder has none and sees everything.": (
        "语言模型有因果掩码；编码器没有，什么都看得到。"
    ),
    "Try this": "试一试",
    "scores": "得分",
    "Back": "上一步",
    "Step": "步骤",
    "Next": "下一步",
    "What it should read": "本应读到的",
    "Told in {threads}": "讨论见 {threads}",
    "Which one is mine?": "我的是哪一种？",
    "`relxl.identify_shift` feeds a function numbered elements and says which shift it does, and every cell that "
    "does not read its own row and distance. Run it beside your code: this page runs no code but its own.": (
        "`relxl.identify_shift` 把编了号的元素喂给一个函数，说出它做的是哪种移位，并列出每个没有读到自己那一行、自己"
        "那个距离的格子。请在你自己的代码旁边运行它：这个页面只运行自己的代码。"
    ),
    "That is what it prints. The cells of the first are the future, which a causal mask hides; `wrong` is none of "
    "the {count} shifts of this page, by its numbers and not by its looks.": (
        "这就是它打印的结果。第一种的那些格子属于未来，因果掩码会遮住；`wrong` 不是本页 {count} 种移位中的任何一种，"
        "这是按数字判断的，不是看长得像不像。"
    ),
    "A product q · p is [query column], and the table gives each column its distance. *Pad* puts a zero before each "
    "row, so that a row is one longer than there are columns. *View* reads the same memory in rows of query_len. "
    "*Drop* takes the first row away, query_len elements. Read in rows of the old length again, row i has moved "
    "query_len − 1 − i columns to the left, which brings distance m + i − j under key j. What leaves a row on the "
    "left comes in on the right of the row above: the leftovers.": (
        "乘积 q · p 是 [query column]，每一列的距离由表决定。*Pad* 在每行前面补一个零，于是一行比列数多出一个。"
        "*View* 把同一块内存按每行 query_len 个来读。*Drop* 去掉第一行，即 query_len 个元素。再按原来的行长去读，第 "
        "i 行就左移了 query_len − 1 − i 列，把距离 m + i − j 送到键 j 的下面。从一行左边出去的，会从上一行的右边进"
        "来：这就是残余。"
    ),
    "relxl needs none of it: `RelativePairs.read` takes the product [query, query_len + key_len − 1] and reads it "
    "with `as_strided`, strides (row − 1, 1) from column query_len − 1, as [query key]. `relxl.shift.tagged_steps` "
    "sends numbered elements through every step of a shift, `relxl.shift.foreign_cells` compares what arrives with "
    "(i, m + i − j), and `relxl.shift.pair_map` makes the same map for `relxl.relative.score_terms` to compute with.": (
        "relxl 完全用不着它：`RelativePairs.read` 拿到乘积 [query, query_len + key_len − 1]，用 `as_strided` 以步幅 "
        "(row − 1, 1) 从第 query_len − 1 列读成 [query key]。`relxl.shift.tagged_steps` 让编了号的元素走过移位的每一"
        "步，`relxl.shift.foreign_cells` 把到达的结果与 (i, m + i − j) 比较，`relxl.shift.pair_map` 则做出同样的映"
        "射，供 `relxl.relative.score_terms` 计算。"
    ),
    "What does it cost?": "代价是多少？",
    "Both ways at {lengths} tokens, on this machine": "在这台机器上测两种写法，{lengths} 个 token",
    "For {length} tokens and one layer the explicit form makes **{explicit}**, and the table projected first "
    "**{table}**: {times} times less, and nothing [query key d] in it.": (
        "{length} 个 token、一层：显式写法占用 **{explicit}**，先投影表则是 **{table}**：少 {times} 倍，而且里面没有"
        "任何 [query key d] 的张量。"
    ),
    "Length L": "长度 L",
    "d_head": "d_head",
    "Columns of the table R": "表 R 的列数",
    "d_pos": "d_pos",
    "Kind of number": "数值类型",
    "; `rel_emb` of {length} tokens is as large": "；{length} 个 token 的 `rel_emb` 也同样大",
    "The two numbers that are quoted: {shared} bytes are `rel_emb` {shared_shape} in float32, once a layer, because "
    "all heads share it; it is not one head's. {projected} bytes are the projected tensor of 8 heads × 32, "
    "{projected_shape}{same}.": (
        "常被引用的两个数字：{shared} 字节是 float32 的 `rel_emb` {shared_shape}，每层一份，因为所有头共用它，它不是"
        "一个头的。{projected} 字节是 8 头 × 32 的投影后张量 {projected_shape}{same}。"
    ),
    "explicit": "显式",
    "table projected first": "先投影表",
    "Measured: {heads} heads × {d_head}, d_pos {d_pos}, float32, batch 1, on one thread in a process of its own. "
    "Time is the median of three runs. Memory is the most that torch's allocator held at a time during one call, "
    "without the inputs; what it is above the dotted formula are copies that a product needs. The explicit form "
    "stops at {longest}: at {next} its tensors alone take {needed}.": (
        "测量条件：{heads} 头 × {d_head}，d_pos {d_pos}，float32，batch 1，单线程，独立进程。时间取三次运行的中位数。"
        "内存是一次调用期间 torch 分配器同时占用的最大值，不含输入；高出虚线公式的部分是乘积需要的副本。显式写法到 "
        "{longest} 为止：到 {next} 时，光是它的张量就要 {needed}。"
    ),
    "way": "写法",
    "bytes by formula": "公式算出的字节数",
    "bytes measured": "实测字节数",
    "largest difference": "最大差",
    "Stopped before both ways were measured at one length.": "在两种写法都测完同一个长度之前就停止了。",
    "At {length} tokens: explicit {slow_time} and {slow_size}, the table projected first {fast_time} and "
    "{fast_size}. That is **{faster} times faster** in **{smaller} times less memory**, and the scores are the "
    "same: largest difference {difference} in scores up to {largest}.": (
        "{length} 个 token：显式写法 {slow_time}、{slow_size}，先投影表 {fast_time}、{fast_size}。也就是**快 "
        "{faster} 倍**，内存**少 {smaller} 倍**，而且得分相同：得分最大为 {largest}，最大差 {difference}。"
    ),
    "Each of the {cells} cells reads its own row at its own distance.": (
        "{cells} 个格子个个读的都是自己那一行、自己那个距离。"
    ),
    "{foreign} of {cells} cells carry a foreign distance; {visible} of them are visible.": (
        "{cells} 个格子中有 {foreign} 个读到了不属于自己的距离，其中 {visible} 个可见。"
    ),
    "{foreign} of {cells} cells carry a foreign distance; {visible} of them are visible: the mask hides all.": (
        "{cells} 个格子中有 {foreign} 个读到了不属于自己的距离，其中 {visible} 个可见：全被掩码遮住了。"
    ),
    "query row : distance; one colour a query row": "查询行 : 距离；一个查询行一种颜色",
    "pad, a zero": "补的零",
    "foreign and visible": "读错且可见",
    "a zero in the place of a score, visible": "得分处是零，且可见",
    "foreign, hidden by the mask": "读错，被掩码遮住",
    "What each cell reads": "每个格子读到什么",
    "distance of the column": "这一列的距离",
    "query {query}, key {key}: {says}": "查询 {query}，键 {key}：{says}",
    "right is {label}": "正确的是 {label}",
    "Row i at distance m + i − j in every cell.": "每个格子都是：第 i 行，距离 m + i − j。",
    "a pad, which is zero": "补的零",
    "row {row} at distance {distance}": "第 {row} 行，距离 {distance}",
    "Pad and view": "补零再 view",
    "Pad and view, sliced": "补零再 view，截取",
    "Strided view": "跨步视图",
    "XLNet, both directions": "XLNet，双向",
    "XLNet, one direction": "XLNet，单向",
    "Pad right, drop last": "右侧补零，丢最后一行",
    "Reversed table of 5,000": "5,000 行的反向表",
    "Table upside down": "表上下颠倒",
    "No shift at all": "完全不移位",
    "Right in a language model": "在语言模型里正确",
    "The same in an encoder": "放到编码器里",
    "The original, made for a causal language model: what stands in the future is one zero and then the farthest "
    "distances of the next query, and the mask hides it. Encoders that copied it without the mask see it: training "
    "runs, nothing is reported, results are only somewhat worse.": (
        "最初的写法，为因果语言模型而作：未来的位置上是一个零，接着是下一个查询最远的那些距离，掩码会遮住它们。照抄却"
        "没有掩码的编码器看得到它们：训练照跑，没有任何报错，结果只是差一些。"
    ),
    "The repair for encoders: a table of 2T − 1 rows, from the farthest past to the farthest future. The same pad "
    "and view is then right in every cell, for a product twice as wide.": (
        "给编码器的修正：表有 2T − 1 行，从最远的过去到最远的未来。同样的补零再 view，这时每个格子都正确，代价是乘积"
        "宽了一倍。"
    ),
    "The shortest way, and the one of relxl: the product is read where it lies, each row starting one element "
    "earlier. Every cell is right, with memory and in both directions, and nothing is copied.": (
        "最短的写法，也是 relxl 的写法：乘积就地读取，每一行比上一行早一个元素开始。有记忆、双向，每个格子都正确，而"
        "且什么都不用复制。"
    ),
    "The table starts one distance earlier, so that the element dropped takes the place of the pad. People ask why "
    "it begins at klen and differs from Transformer-XL; it is right in every cell.": (
        "表从早一个距离开始，于是被丢掉的元素占了补零的位置。常有人问它为什么从 klen 开始、与 Transformer-XL 不同；每"
        "个格子都是对的。"
    ),
    "Without the negative distances the future holds the farthest distances of the next query, and no zero stands "
    "between. It is right as long as a causal mask hides them.": (
        "没有负距离，未来的位置上就是下一个查询最远的那些距离，中间也没有零隔开。只要有因果掩码遮住，它就是对的。"
    ),
    "Padded on the right, the last row dropped, the last columns kept, with a table that ascends in key − query. It "
    "was reported as a bug because it looks different, and it is right in every cell.": (
        "右侧补零，丢掉最后一行，保留最后若干列，表按 key − query 升序。它因为看起来不一样而被当作 bug 报告过，其实每"
        "个格子都正确。"
    ),
    "The first T rows of one reversed table of 5,000: distance d reads 5,000 − T + d, another one for every length "
    "of the input, and the future holds leftovers. The repaired class has the same parameter names: a model loaded "
    "into the other class gives no warning, only more errors.": (
        "取一张 5,000 行反向表的前 T 行：距离 d 读的是 5,000 − T + d，输入长度一变就不同，未来的位置上还有残余。修正"
        "后的类参数名完全相同：模型载入到另一个类里不会有任何警告，只是错误率更高。"
    ),
    "The shift gives distances only for a table that descends. With rows 0, 1, 2, … near and far are exchanged: a "
    "head that should look one token back looks at the far end, and an encoder sees the leftovers besides.": (
        "只有降序的表经过移位才得到距离。用 0, 1, 2, … 的行，远近就颠倒了：本该看前一个 token 的头看向最远端，编码器"
        "还会看到残余。"
    ),
    "Row p of the table meets key p whatever the query is: the term says where a key stands, not how far away it "
    "is. It trains and it streams; one report gained about 1 % from real distances.": (
        "不管查询是什么，表的第 p 行总对着键 p：这一项说的是键在哪里，而不是离得多远。它能训练，也能流式推理；有一份"
        "报告换成真正的距离后提升约 1 %。"
    ),
    "Indexed by i − j where m + i − j is meant. Without memory nothing is wrong; with m tokens of it every distance "
    "is m too small, and what is past counts as future.": (
        "该用 m + i − j 的地方用了 i − j。没有记忆时毫无问题；有 m 个 token 的记忆时，每个距离都小了 m，过去被算成了"
        "未来。"
    ),
    "product": "乘积",
    "pad": "补零",
    "view": "view",
    "drop": "丢弃",
    "slice": "截取",
    "strided view": "跨步视图",
    "gather": "gather",
    "Every query times every row of the table. A column belongs to one distance.": (
        "每个查询乘以表的每一行。一列对应一个距离。"
    ),
    "A column of zeros is put in front of it.": "在前面补一列零。",
    "A column of zeros is put behind it.": "在后面补一列零。",
    "Nothing moves in memory: the same numbers, one after the other, in rows of {width}.": (
        "内存里什么也没动：同样的数，依次排列，改为每行 {width} 个。"
    ),
    "The first row is dropped, so everything that follows moves up.": "丢掉第一行，后面的全部上移。",
    "The last row is dropped.": "丢掉最后一行。",
    "The first {width} columns are kept.": "保留前 {width} 列。",
    "The last {width} columns are kept.": "保留最后 {width} 列。",
    "Read where it lies: each row starts one element earlier. Nothing is copied.": (
        "就地读取：每一行比上一行早一个元素开始。什么都不复制。"
    ),
    "Each cell picks its element by the index i − j. The memory is not counted.": (
        "每个格子按下标 i − j 取元素。没有把记忆算进去。"
    ),
    "bytes": "字节",
    "Size of every tensor of one layer": "一层中每个张量的大小",
    "{name}, by formula": "{name}，按公式",
    "length L, tokens": "长度 L（token）",
    "memory, MB": "内存（MB）",
    "time, ms": "时间（ms）",
}
