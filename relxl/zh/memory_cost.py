"""Chinese texts of the page "Memory" on what memory saves in time."""

TEXTS = {
    "`relxl.experiments.recurrence`: `window_losses` reads every window from scratch, `measure_recurrence` times it "
    "beside a segment with memory, `multiplications` counts those of the matrix products: of a piece of queries "
    "over its keys, as it is read.": (
        "`relxl.experiments.recurrence`：`window_losses` 从头读取每个窗口，`measure_recurrence` 给它计时，与带记忆读"
        "取一个片段并排比较，`multiplications` 数矩阵乘法中的乘法次数：按读取的样子，一段查询乘以它的键。"
    ),
    "What does the memory save in time?": "记忆省下多少时间？",
    "The recorded result is not here yet: this command writes it, in some minutes.": (
        "这里还没有记录的结果：运行下面的命令即可生成，约需几分钟。"
    ),
    "**{name}:** a token with {context} tokens of context costs **{memory}** with memory and **{window}** with a "
    "window that is recomputed for it: **{times} times**; counting multiplications gives {counted}. A window that "
    "is recomputed only every {segment} tokens, as many as memory reads at once, costs {strided} times.": (
        "**{name}**：上文有 {context} 个 token 时，一个 token 带记忆要 **{memory}**，而为它重算一个窗口要 "
        "**{window}**：**{times} 倍**；按乘法次数计则是 {counted} 倍。若只每 {segment} 个 token（即带记忆时一次读取的"
        "数量）重算一次窗口，要 {strided} 倍。"
    ),
    "At {context}, {many} times the segment, it is {times} times.": (
        "到 {context}，即片段的 {many} 倍，则是 {times} 倍。"
    ),
    "With absolute positions the memory is fast and wrong: its places collide with those of the segment. Over {n} "
    "tokens the loss is **{memory:.3f}** nats per token with a memory of {context}, and **{window:.3f}** with a "
    "window of {context} for every token.": (
        "用绝对位置，记忆快是快，但是错的：它的位置与片段的位置相撞。在 {n} 个 token 上，{context} 的记忆损失为 "
        "**{memory:.3f}** nat/token，而为每个 token 取 {context} 的窗口则为 **{window:.3f}**。"
    ),
    "When windows give every token exactly the keys that it sees with memory, their loss minus that with memory is "
    "{first} nats per token at {near} tokens and {last} at {far}, over {n} tokens. With one layer it would be 0; "
    "with more, what a layer keeps was itself computed with a memory, so memory reaches further back.": (
        "如果让窗口给每个 token 的键与带记忆时看到的完全相同，窗口的损失减去带记忆的损失，在 {near} 个 token 时为 "
        "{first} nat/token，在 {far} 个时为 {last}，共 {n} 个 token。只有一层时它会是 0；层数更多时，每层保留的内容本"
        "身也是带着记忆算出来的，所以记忆能追溯到更早。"
    ),
    "These tokens do not tell the two apart.": "这些 token 分不出两者的高下。",
    "{clock}, batch 1, float32, threads: {threads}, {cpu}, torch {torch}. The machine had other work too: the ways "
    "take turns, a ratio is of one round, and shown is the median of {rounds}. All windows of one length cost the "
    "same, so one of a segment’s {segment} is timed. What is counted leaves out softmax, masks and caches. The "
    "paper’s numbers (Dai et al. 2019, table 9) are of a larger model.": (
        "{clock}，batch 1，float32，线程数 {threads}，{cpu}，torch {torch}。机器同时还有别的工作：各种方式轮流进行，"
        "比值取自同一轮，显示的是 {rounds} 轮的中位数。同一长度的窗口代价都相同，所以一个片段的 {segment} 个里只计时"
        "一个。计数不含 softmax、掩码和缓存。论文的数字（Dai et al. 2019，表 9）来自更大的模型。"
    ),
    "CPU time": "CPU 时间",
    "Time": "时间",
    "To measure it on this machine, give a text of some hundred tokens.": (
        "要在这台机器上测量，请给一段几百个 token 的文本。"
    ),
    "Context to measure here, tokens": "在这里测量的上文长度（token）",
    "{name}: a token with {n} tokens of context, {rounds} rounds, segments of {segment}": (
        "{name}：上文 {n} 个 token 时的一个 token，{rounds} 轮，片段 {segment}"
    ),
    "a window every {n} tokens": "每 {n} 个 token 一个窗口",
    "a window for every token": "每个 token 一个窗口",
    "times, measured": "倍数，实测",
    "times, counted": "倍数，计数",
    "Here a token with {context} tokens of context costs **{memory}** with memory and **{window}** with a window "
    "for every token: **{times} times**, counted {counted}.": (
        "在这台机器上，上文有 {context} 个 token 时，一个 token 带记忆要 **{memory}**，每个 token 一个窗口则要 "
        "**{window}**：**{times} 倍**，按计数是 {counted} 倍。"
    ),
    "Over {n} tokens that see the same keys both ways the loss of the windows minus that with memory is "
    "{difference} nats per token.": (
        "在两种方式看到相同键的 {n} 个 token 上，窗口的损失减去带记忆的损失为 {difference} nat/token。"
    ),
    "%{y:,.3~r} times": "%{y:,.3~r} 倍",
    "context %{x}": "上文 %{x}",
    "counted in multiplications": "按乘法次数计",
    "the paper, on one GPU": "论文，单张 GPU",
    "context, tokens": "上文（token）",
    "times the cost with memory": "为带记忆时代价的几倍",
    "time of an evaluated token, ms": "评估一个 token 的时间（ms）",
    "{n}: memory up to {k} times": "{n}：记忆最长 {k} 倍",
    "Segment, tokens": "片段（token）",
}
