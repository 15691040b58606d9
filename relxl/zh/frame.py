"""Chinese texts of the frame of every page, the sidebar and the first page."""

TEXTS = {
    "relxl opens models with Transformer-XL style relative attention and splits every score before the softmax into "
    "its four additive terms. It proves, on the numbers in front of you, that the split is exact. Vary the text, "
    "the layer and the head in the sidebar, and go through a door to look closer.": (
        "relxl 打开采用 Transformer-XL 式相对注意力的模型，把 softmax 之前的每个得分拆成四个相加的项，并用你眼前的这"
        "些数字证明拆分是精确的。在侧边栏里换文本、换层、换头，再从下面任意一扇门进去细看。"
    ),
    "Home": "首页",
    "What does this model's attention score consist of?": "这个模型的注意力得分由什么组成？",
    "Four terms add up to every score. Columns are keys that every query wants, diagonals are distances that every "
    "query wants.": "每个得分都是四项之和。竖条是所有查询都想要的键，斜线是所有查询都想要的距离。",
    "Score terms": "四项得分",
    "What is this head's score made of, for this token?": "对这个 token 来说，这个头的得分由什么组成？",
    "(a) to (d) add up to the sum; a softmax over the visible cells gives the probabilities. The ring is the chosen "
    "cell, hatched cells are the future.": (
        "(a) 到 (d) 相加得到总和，再对可见的格子做 softmax 就得到概率。圆环是选中的格子，斜纹格是未来。"
    ),
    "Which heads do what?": "哪个头做什么？",
    "A cell is a head: layers down, heads across, one measure at a time. Near a corner of the triangle one kind of "
    "term decides where a head looks.": (
        "一格就是一个头：纵向是层，横向是头，每次看一个指标。越靠近三角形的某个角，这个头看哪里就越由那一类项决定。"
    ),
    "Distance": "距离",
    "How far does each head look, and what does position alone say?": "每个头看多远？只凭位置又能说出什么？",
    "Over distance: what the position terms say, and what attention becomes. One line a head, the chosen one bold; "
    "(d) v_bias is the same for every query.": (
        "沿距离看：位置项说了什么，注意力最后成了什么样。一条线一个头，选中的加粗；(d) v_bias 对所有查询都一样。"
    ),
    "Masking": "掩码",
    "How does the future get in?": "未来是怎么漏进来的？",
    "The hatched triangle is what a query must not see. Whatever has colour there in the last panel has leaked.": (
        "斜纹三角形是查询不该看到的部分。最后一幅图里，那里凡是有颜色的都是泄漏。"
    ),
    "Which distance does each cell really read, and what does it cost?": "每个格子实际读的是哪个距离？代价是多少？",
    "A cell says row:distance of what it reads. Right is its own row at distance m + i − j; red is foreign, hatched "
    "is hidden by the mask.": (
        "格子里写着它读到的“行:距离”。正确的是自己那一行、距离 m + i − j；红色是读错的，斜纹是被掩码遮住的。"
    ),
    "Initialisation": "初始化",
    "What does the starting scale do to attention?": "初始尺度会怎样影响注意力？",
    "A fresh layer, drawn from a seed. Move the scale: too small and it averages, too large and it stares.": (
        "一个由随机种子生成的全新层。移动尺度看看：太小，它只会取平均；太大，它只盯着一处。"
    ),
    "Max len": "最大长度",
    "What happens beyond the table?": "超出位置表会怎样？",
    "Left of the red wall all keys are equally far away: they share one row of the table. Move the wall and see "
    "what the head loses.": "红墙左边的键全都一样远：它们共用表里的一行。移动这道墙，看看这个头失去了什么。",
    "What crosses the segment seam?": "什么东西越过了片段的接缝？",
    "How much of its attention each head gives to the cached segment. The first token of a segment has hardly "
    "anything else to read.": "每个头把多少注意力给了缓存的片段。一个片段的第一个 token 除此之外几乎没有别的可读。",
    "Checkpoint": "检查点",
    "What is in this file?": "这个文件里有什么？",
    "Whose it is and how it was recognised, what the weights can not tell, and what position alone says in every "
    "head, without any input.": (
        "它属于哪个家族、凭什么认出来的，权重说不清的是哪些，以及不看任何输入时，每个头单凭位置说了什么。"
    ),
    "Doctor": "诊断",
    "What is wrong with it?": "它哪里出了问题？",
    "Every check that has what it needs, on the file and on this run of it. The worst comes first: where, what to "
    "try, and the numbers that say so.": (
        "凡是条件齐备的检查都已跑过，既查文件，也查这一次运行。最严重的排在最前：在哪里，试什么办法，以及支持这一判断"
        "的数字。"
    ),
    "What changed between these two?": "这两者之间有什么变化？",
    "Two checkpoints, or one training step by step: which tensors moved, what position alone says in each head, and "
    "how the terms share the scores.": (
        "两个检查点，或一次训练的逐步过程：哪些张量变了，每个头单凭位置说了什么，各项如何分摊得分。"
    ),
    "The link asked for {wanted}, which is not to be had here: showing {value}.": (
        "链接要求 {wanted}，这里没有：改为显示 {value}。"
    ),
    "Query": "查询",
    "Key": "键",
    "The key that this query attends to most": "这个查询注意力最高的键",
    "Strongest": "最强的键",
    "{cells} sampled cells of each term against a float64 recomputation from weights and hidden states: largest "
    "difference {definition}. Sum of the terms against the logits of the model's own forward: {forward}. Tolerance "
    "for {dtype}: {tolerance}.": (
        "每一项各抽 {cells} 个格子，与由权重和隐藏状态用 float64 重算的结果比较：最大差 {definition}。各项之和与模型"
        "自身前向给出的 logits 比较：{forward}。{dtype} 的容差：{tolerance}。"
    ),
    "exact to {worst}": "精确到 {worst}",
    "not exact: {worst}": "不精确：{worst}",
    "Start": "开始",
    "Another session is computing this already: start it to join in.": "另一个会话已经在计算它了：点“开始”即可加入。",
    "Cancel": "取消",
    "Run again": "重新运行",
    "Waiting": "等待中",
    "Waiting, at place {place} in the queue. Running now: {title}": "等待中，排在第 {place} 位。正在运行：{title}",
    "Starting": "正在启动",
    "{time} left": "还剩 {time}",
    "Done in {time}.": "已完成，用时 {time}。",
    "Cancelled at {percent} after {time}; this is what there is.": (
        "运行 {time} 后在 {percent} 处取消；以下是已有的结果。"
    ),
    "Failed after {time}.": "运行 {time} 后失败。",
    "{n} s": "{n} 秒",
    "{n} min": "{n} 分钟",
    "{n} h": "{n} 小时",
    "Layer": "层",
    "Head": "头",
    "Hidden states: {n} random frames, N(0, 1), since none were given.": (
        "隐藏状态：没有提供，改用 {n} 帧随机数 N(0, 1)。"
    ),
    "Text": "文本",
    "Token ids": "token 编号",
    "Unknown to this model, and left out or read as its unknown token: {count} ({some})": (
        "模型不认识的字符，已略去或读作未知 token：{count} 个（{some}）"
    ),
    "The text has no token that this model knows, and at least one is needed: type some, as in {sample}": (
        "这段文本里没有模型认识的 token，而至少需要一个：请输入一些，例如 {sample}"
    ),
    "{n} tokens; the last {used} are looked at, {memory} of them as memory.": (
        "共 {n} 个 token；看的是最后 {used} 个，其中 {memory} 个作为记忆。"
    ),
    "The first query of the second segment; 0: one segment, so that the segment terms are left out.": (
        "第二个片段的第一个查询；0 表示只有一个片段，因而没有片段项。"
    ),
    "Second segment": "第二个片段",
    "off": "关",
    "on": "开",
    "Most tokens in the segment; as many before them are memory. The first is the length of the training.": (
        "片段最多含多少 token，之前同样多的作为记忆。第一个选项是训练时的长度。"
    ),
    "Segment": "片段",
    "relative, learned table": "相对位置，可学习的表",
    "relative, sinusoid": "相对位置，正弦",
    "absolute, sinusoid": "绝对位置，正弦",
    "{layers} × {heads} heads, d_model {width}, {count} parameters": (
        "{layers} × {heads} 头，d_model {width}，{count} 参数"
    ),
    "positions: {positions}; segment {segment}, memory {memory}": "位置：{positions}；片段 {segment}，记忆 {memory}",
    "positions: {positions}; reads hidden states": "位置：{positions}；读取隐藏状态",
    "{text}: validation loss {loss:.3f} nats per token": "{text}：验证损失 {loss:.3f} nat/token",
    "trained with a mask that leaks: {mask}": "训练时用了会泄漏的掩码：{mask}",
    "assumed, see Checkpoint: {names}": "以下为假定值，见“检查点”页：{names}",
    "checkpoint": "检查点",
    "size": "规模",
    "{n_layer} layers × {n_head} heads of {d_head}, d_model {d_model}, {parameters} parameters": (
        "{n_layer} 层 × {n_head} 头（每头 {d_head} 维），d_model {d_model}，{parameters} 个参数"
    ),
    "segment {segment_len}, memory {mem_len}, vocabulary {n_token}": (
        "片段 {segment_len}，记忆 {mem_len}，词表 {n_token}"
    ),
    "trained on": "训练数据",
    "{trained_on}, {steps} steps": "{trained_on}，{steps} 步",
    "validation loss": "验证损失",
    "{loss:.3f} nats per token": "{loss:.3f} nat/token",
    "The loaded checkpoint": "当前载入的检查点",
    "upload": "已上传",
    "There is no checkpoint in {folder}: run `make train`.": "{folder} 里没有检查点：请运行 `make train`。",
    "Read it so": "就这样读取",
    "One file of weights (.safetensors, .pt, .bin, .ckpt, .nemo), or its shards and its index, with config.json, "
    "vocab.json or vocab.txt beside it if you have them. It is read without running anything in it, and it does not "
    "leave this machine.": (
        "一个权重文件（.safetensors、.pt、.bin、.ckpt、.nemo），或全部分片加索引；有 config.json、vocab.json 或 "
        "vocab.txt 的话一并放上。读取时不会运行其中任何代码，文件也不会离开这台机器。"
    ),
    "Open your own": "打开你自己的检查点",
    "Opening {name}": "正在打开 {name}",
    "{name} holds no weights: give a .safetensors, .pt, .bin, .ckpt or .nemo file as well": (
        "{name} 里没有权重：请同时提供 .safetensors、.pt、.bin、.ckpt 或 .nemo 文件"
    ),
    "{n} files of weights came, {name} among them, but shards are named by letters, digits, dots, dashes and "
    "underscores, each once: give one file, or all shards with their index": (
        "收到 {n} 个权重文件，其中有 {name}；但分片的文件名只能含字母、数字、点、短横线和下划线，且不得重名：请只给一"
        "个文件，或给出全部分片和它们的索引"
    ),
    "An .npz or .safetensors with `hidden` [batch len d_model], what enters the encoder or, where only attention is "
    "known, the attention module; `mask` and `mems` if there are any.": (
        "一个 .npz 或 .safetensors，内含 `hidden` [batch len d_model]，即编码器的输入；若只有注意力部分，则是注意力模"
        "块的输入。有 `mask` 和 `mems` 也可以放进去。"
    ),
    "Hidden states": "隐藏状态",
    "Back to random ones": "换回随机隐藏状态",
    "Point at a cell to read it, click to pin it.": "把鼠标移到格子上读数，点击即固定。",
    "drag to zoom, double-click to reset": "拖动放大，双击还原",
    "pinch to zoom, double-tap to reset": "双指缩放，双击还原",
    "each pixel is the largest of {n} × {n} cells; zoom in for exact ones": (
        "每个像素取 {n} × {n} 个格子中最大的一个；放大可看精确值"
    ),
    "Zoom in": "放大",
    "Zoom out": "缩小",
    "Show all": "显示全部",
    "Save as PNG": "存为 PNG",
    "Language": "语言",
    "This model reads hidden states and predicts no token, so there is no loss to measure.": (
        "这个模型读取隐藏状态，不预测 token，所以没有损失可测。"
    ),
    "This file has no output layer, so the model predicts nothing and there is no loss to measure.": (
        "这个文件里没有输出层，模型什么也不预测，所以没有损失可测。"
    ),
    "This model sees both sides, the next token too, so a loss on the next token would say nothing.": (
        "这个模型两边都看，连下一个 token 也看得到，所以“预测下一个 token”的损失说明不了什么。"
    ),
    "Measuring": "测量中",
    "Muting": "逐项静音中",
    "Take this page along:": "把这一页带走：",
    "HTML, offline": "离线 HTML",
    "Tables, CSV and Parquet": "表格，CSV 与 Parquet",
    "left out": "已略去",
    "matrices with more than {n} cells": "超过 {n} 个格子的矩阵",
    "settings": "设置",
    "versions": "版本",
    "Copy link": "复制链接",
    "with the text": "连同文本",
    "Without the text, which stays with you: who opens the link sees the default one.": (
        "不含文本，文本留在你这里：打开链接的人看到的是默认文本。"
    ),
}
