"""Chinese texts of what the doctor finds and advises."""

TEXTS = {
    "{tensor} of L{layer} looks as if nobody had initialised it: {nan} numbers that are not finite, {denormal} "
    "denormal ones, largest {largest:.3g}.": (
        "L{layer} 的 {tensor} 看起来没有人初始化过：{nan} 个非有限数，{denormal} 个非规格化数，最大 {largest:.3g}。"
    ),
    "Give u and v values where they are made; a parameter from torch.empty or torch.Tensor(...) holds what lay "
    "there.": (
        "在创建 u 和 v 的地方给它们赋值；由 torch.empty 或 torch.Tensor(...) 得到的参数，里面是那块内存原有的内容。"
    ),
    "{tensor} of L{layer} is exactly 0 in {heads} of {n_head} heads, so its term plays no part.": (
        "L{layer} 的 {tensor} 在 {n_head} 个头中的 {heads} 个里恰为 0，所以这一项不起作用。"
    ),
    "Look whether the optimiser has it: NVIDIA's code starts at 0 and trains from there, but it does not stay there.": (
        "看看优化器里有没有它：NVIDIA 的代码也从 0 开始，但会训练起来，不会一直停在 0。"
    ),
    "{tensor} of L{layer} is exactly 0 in {heads} of {n_head} heads, which is harmless here: the bias of the query "
    "projection (root mean square {q_bias:.3g}) does the same.": (
        "L{layer} 的 {tensor} 在 {n_head} 个头中的 {heads} 个里恰为 0，在这里无妨：查询投影的偏置（均方根 "
        "{q_bias:.3g}）起着同样的作用。"
    ),
    "Nothing needs to be done. Compare terms with the query's bias folded into them.": (
        "什么也不用做。比较各项时，请把查询的偏置并入它们。"
    ),
    "{tensor} of L{layer} still looks as drawn from a normal of std 0.02: standard deviation {std:.4f}, largest "
    "{largest:.3f}.": (
        "L{layer} 的 {tensor} 看起来仍是按标准差 0.02 的正态分布初始化时的样子：标准差 {std:.4f}，最大 {largest:.3f}。"
    ),
    "Look whether the optimiser has it: names that end in bias, or live outside of modules, are often left out.": (
        "看看优化器里有没有它：名字以 bias 结尾的，或不在模块里的参数，常被漏掉。"
    ),
    "{tensor} is the same in all {n_layer} layers, though {family} has one a layer: one layer's was used everywhere.": (
        "{tensor} 在全部 {n_layer} 层里都相同，而 {family} 应是每层一份：某一层的被用到了所有层。"
    ),
    "Load the untied biases; where the training tied them (untie_r false) this is right.": (
        "载入不绑定的偏置；如果训练时就绑定了（untie_r 为 false），那么这是对的。"
    ),
    "{tensor} is the same in all {n_layer} layers: {family} ties them.": (
        "{tensor} 在全部 {n_layer} 层里都相同：{family} 把它们绑定在一起。"
    ),
    "Copy it to every layer when you port these weights to code with one a layer.": (
        "把这些权重移植到每层一份的代码时，请复制到每一层。"
    ),
    "u_bias and v_bias of L{layer} are the same numbers: one parameter was loaded into both.": (
        "L{layer} 的 u_bias 和 v_bias 是同一组数：一个参数被载入到了两处。"
    ),
    "{tensor} of L{layer} is the same for all {n_head} heads: one vector was spread over them.": (
        "L{layer} 的 {tensor} 在全部 {n_head} 个头里都相同：一个向量被铺到了所有头上。"
    ),
    "u and v are [head d_head]; a vector of d_model must be split into heads, not repeated.": (
        "u 和 v 是 [head d_head]；长为 d_model 的向量应当切分给各个头，而不是重复。"
    ),
    "{name} is not in the file and was taken to be {value}; with {other} a probability of L{layer} changes by "
    "{moved:.2f}.": "文件里没有 {name}，按 {value} 处理；若为 {other}，L{layer} 的某个概率会变动 {moved:.2f}。",
    "Look it up in the training config and give it: --choose {name}=...; the tensors are the same either way.": (
        "到训练配置里查一下再给出：--choose {name}=...；不管怎样，张量都是一样的。"
    ),
    "{names} cannot be told from the tensors and were assumed.": "{names} 无法从张量看出，用的是假定值。",
    "Look them up in the training config and give them by --choose NAME=VALUE or --config FILE.": (
        "到训练配置里查一下，用 --choose NAME=VALUE 或 --config FILE 给出。"
    ),
    "{count} tensors of the file play no part: {names}.": "文件里有 {count} 个张量不起作用：{names}。",
    "If one of them is a part of the attention, its name is not what the family calls it.": (
        "如果其中有属于注意力的，说明它的名字与这个家族的叫法不同。"
    ),
    "bi_data reads the second half of a batch backwards, but {batch} texts have no halves: {forward} are read "
    "forward.": "bi_data 会把批次的后一半反向读取，但 {batch} 段文本分不成两半：其中 {forward} 段按正向读取。",
    "Give an even batch, or switch bi_data off for evaluation.": "给一个偶数大小的批次，或者在评估时关掉 bi_data。",
    "L{layer}H{head} gives {mass:.1%} of its attention to key {key}, whatever the query.": (
        "L{layer}H{head} 把 {mass:.1%} 的注意力给了键 {key}，不管查询是什么。"
    ),
    "A key that all want is u_bias or a large key vector: look at its terms; such a head can often be pruned.": (
        "人人都想要的键，要么来自 u_bias，要么是键向量太大：看看它的各项；这样的头常常可以剪掉。"
    ),
    "L{layer}H{head} looks at every key alike: its entropy is {entropy:.2%} of the largest possible.": (
        "L{layer}H{head} 对每个键一视同仁：它的熵是最大可能值的 {entropy:.2%}。"
    ),
    "Scores that are too small do this: look at the scale, and at an initial std that is too small.": (
        "得分太小就会这样：看看缩放，以及是否初始标准差太小。"
    ),
    "L{layer}H{head} gives {peak:.1%} of its attention to a single key in the mean row: its softmax has no gradient.": (
        "L{layer}H{head} 平均每一行把 {peak:.1%} 的注意力给了单独一个键：它的 softmax 没有梯度。"
    ),
    "Scores that are too large do this: look at the scale (1/sqrt(d_head)) and at the size of the inputs.": (
        "得分太大就会这样：看看缩放 (1/sqrt(d_head)) 和输入的大小。"
    ),
    "L{layer}H{head} does what H{other} does: their weights correlate by {correlation:.4f}.": (
        "L{layer}H{head} 与 H{other} 做的是同一件事：它们的权重相关系数为 {correlation:.4f}。"
    ),
    "Look at whether one head's weights were copied; of two such heads one can be pruned.": (
        "看看是不是复制了某个头的权重；这样的两个头可以剪掉一个。"
    ),
    "r_w_bias and pos_bias_u are u, they go with content; r_r_bias and pos_bias_v are v.": (
        "r_w_bias 和 pos_bias_u 是 u，与内容相配；r_r_bias 和 pos_bias_v 是 v。"
    ),
    "Divide by sqrt(d_head), not sqrt(d_model), and do so once.": (
        "除以 sqrt(d_head) 而不是 sqrt(d_model)，而且只除一次。"
    ),
    "Scale the biases with the query, or do not: as the training code did.": (
        "偏置要不要随查询一起缩放，按训练代码的做法来。"
    ),
    "Put the shift and its table right: cell (i, j) reads distance memory + i - j.": (
        "把移位和它的表改对：格子 (i, j) 读的距离是 memory + i - j。"
    ),
    "Count distances from the first key of the memory: memory + i - j.": "距离从记忆的第一个键数起：memory + i - j。",
    "Count distances as i - j: positive is the past.": "距离按 i - j 计：正数是过去。",
    "Keep sines and cosines as the training had them: in two halves, or interleaved.": (
        "正弦和余弦按训练时的方式排列：分成前后两半，或交错。"
    ),
    "Set clamp_len to that of the run.": "把 clamp_len 设成那次运行的值。",
    "Give this answer by --choose when you open the file.": "打开文件时用 --choose 给出这个回答。",
    "Transpose kernels that come from TensorFlow or Flax; a square one fits either way.": (
        "来自 TensorFlow 或 Flax 的 kernel 要转置；方阵不管转不转都装得进去。"
    ),
    "Compare the masks cell by cell.": "逐格比较两个掩码。",
    "Agree on same_length: mem_len keys, or mem_len + 1.": (
        "统一 same_length 的约定：mem_len 个键，还是 mem_len + 1 个。"
    ),
    "Fill the negative half of the table with sin(-p), or read R(|d|) as the run did.": (
        "表的负半边应填 sin(-p)，或像那次运行一样读 R(|d|)。"
    ),
    "Load every layer's own u and v.": "每一层都载入它自己的 u 和 v。",
    "Load u and v: strict=False hides that they are missing.": "载入 u 和 v：strict=False 会掩盖它们缺失的事实。",
    "Let the position term reach the scores; a mask that is made bool loses it.": (
        "让位置项进入得分；若被转成 bool 掩码，它就丢了。"
    ),
    "Multiply the embedding by sqrt(d_model) once.": "嵌入只乘一次 sqrt(d_model)。",
    "Carry the memory from segment to segment, as long as it was in training.": (
        "让记忆从一个片段带到下一个片段，长度与训练时相同。"
    ),
    "The recorded sample does not have its recorded loss: {found:.3f} nats instead of {recorded:.3f}, a token off "
    "by up to {worst:.2g}. It comes back, to {left:.2g}, with {words}{place}.": (
        "记录的样本没有得到记录的损失：是 {found:.3f} nat 而不是 {recorded:.3f}，单个 token 最多差 {worst:.2g}。改用"
        "{words}{place}后即可恢复，剩余差 {left:.2g}。"
    ),
    "The recorded sample does not have its recorded loss: {found:.3f} nats instead of {recorded:.3f}, a token off "
    "by up to {worst:.2g}; none of {tried} hypotheses brings it back.": (
        "记录的样本没有得到记录的损失：是 {found:.3f} nat 而不是 {recorded:.3f}，单个 token 最多差 {worst:.2g}；试过"
        "的 {tried} 个假设没有一个能恢复它。"
    ),
    "Compare the weights with those of the run: a tensor was changed, or the vocabulary belongs to another model.": (
        "把权重与那次运行的比较：有张量被改过，或者词表属于另一个模型。"
    ),
    "These weights were trained to see the future: {leaking:.3f} nats with {how}, {right:.3f} under the right mask.": (
        "这些权重训练时看到了未来：在“{how}”之下为 {leaking:.3f} nat，用正确的掩码为 {right:.3f}。"
    ),
    "Train again with the mask after the sum of all terms; the low loss was never a language model's.": (
        "重新训练，把掩码放在各项求和之后；那么低的损失从来就不是语言模型该有的。"
    ),
    "A memory of {mem_len} is not used, and would help: {without:.3f} nats without it, {with_it:.3f} with it.": (
        "{mem_len} 的记忆没有用上，而它会有帮助：不用为 {without:.3f} nat，用了为 {with_it:.3f}。"
    ),
    "Give the mem_len of the training (--choose mem_len=...), and carry the memory from segment to segment.": (
        "给出训练时的 mem_len（--choose mem_len=...），并让记忆从一个片段带到下一个片段。"
    ),
    "The first {first} tokens of a segment lose {begin:.3f} nats, the others {rest:.3f}: {reason}": (
        "片段的前 {first} 个 token 损失为 {begin:.3f} nat，其余为 {rest:.3f}：{reason}"
    ),
    "Compare losses only at the same segment and memory length.": "只在片段长度和记忆长度相同时比较损失。",
    "Perplexity {perplexity:.2f} ({loss:.3f} nats a token over {tokens} tokens) at tgt_len {tgt_len}, mem_len "
    "{mem_len}, clamp_len {clamp_len}, same_length {same_length}; largest distance {far}.": (
        "困惑度 {perplexity:.2f}（{loss:.3f} nat/token，{tokens} 个 token），条件：tgt_len {tgt_len}，mem_len "
        "{mem_len}，clamp_len {clamp_len}，same_length {same_length}；最大距离 {far}。"
    ),
    "State these five with any perplexity; each of them changes it.": (
        "报告困惑度时请一并写明这五项；每一项都会改变它。"
    ),
    "The text loses {loss:.2f} nats a token, more than guessing among {n_token} tokens ({chance:.2f}).": (
        "这段文本的损失为 {loss:.2f} nat/token，比在 {n_token} 个 token 里乱猜（{chance:.2f}）还高。"
    ),
    "Look whether the weights were loaded, and whether vocabulary and tokenizer are the model's.": (
        "看看权重是否载入了，词表和分词器是不是这个模型的。"
    ),
    "The future gets in at L{layer}: {cells} cells are read that must not be ({how}).": (
        "未来从 L{layer} 进来：读了 {cells} 个不该读的格子（{how}）。"
    ),
    "Lay the mask on the sum of all terms, after the shift, with -inf; test by changing one token.": (
        "把掩码用 -inf 加在所有项的总和上，放在移位之后；改动一个 token 来检验。"
    ),
    "The future gets in at {entry}, though no attention reads it: {cells} outputs move with a later token.": (
        "未来从 {entry} 进来，但没有一处注意力读它：有 {cells} 个输出随后面的 token 变化。"
    ),
    "Look at what else mixes tokens: a convolution with padding on both sides, a norm over time.": (
        "看看还有什么会混合 token：两边补零的卷积，或沿时间的归一化。"
    ),
    "L{layer} does not read {cells} cells that a query may attend to ({how}).": (
        "L{layer} 没有读查询可以看的 {cells} 个格子（{how}）。"
    ),
    "Compare the mask with m + i - j >= 0, cell by cell; bool and additive masks are each other's opposite.": (
        "逐格与 m + i - j >= 0 比较；bool 掩码与加性掩码的含义正好相反。"
    ),
    "The scores of L{layer} are not finite before any mask.": "L{layer} 的得分在加任何掩码之前就不是有限数。",
    "Look for the first layer whose input is not finite; everything after it follows from it.": (
        "找到第一个输入不是有限数的层；之后的一切都由它而来。"
    ),
    "Keys that must not be seen get up to {mass:.2g} of a row's attention in L{layer} (fill {fill}, {order}).": (
        "不该看到的键在 L{layer} 的一行里最多得到 {mass:.2g} 的注意力（填充值 {fill}，{order}）。"
    ),
    "Fill with -inf, or with the dtype's lowest number, after the sum.": "在求和之后填入 -inf，或该类型的最小值。",
    "The fill {fill} stays only {margin:.1f} nats below the scores of L{layer}: larger scores will beat it.": (
        "填充值 {fill} 只比 L{layer} 的得分低 {margin:.1f} nat：得分再大些就会盖过它。"
    ),
    "{rows} of {of} queries have no key to attend to; with the fill {fill} their attention is {outcome}.": (
        "{of} 个查询中有 {rows} 个没有可看的键；用填充值 {fill} 时，它们的注意力是{outcome}。"
    ),
    "Let every query see itself, or leave such rows out of what follows.": (
        "让每个查询都看到自己，或者在后续计算里略去这些行。"
    ),
    "same_length is in force: a query sees {window} keys, itself among them, with a memory of {mem_len}. "
    "{convention}": "same_length 已生效：一个查询看到含自己在内的 {window} 个键，记忆为 {mem_len}。{convention}",
    "Compare with the code that trained the model: mem_len keys in the authors' PyTorch and HF, mem_len + 1 in TF "
    "and NVIDIA's.": "与训练模型的代码比较：作者的 PyTorch 版和 HF 是 mem_len 个键，TF 和 NVIDIA 的是 mem_len + 1 个。",
    "{mass:.0%} of the attention of L{layer} falls on {slots} memory slots that nobody has written.": (
        "L{layer} 有 {mass:.0%} 的注意力落在 {slots} 个没有人写过的记忆槽上。"
    ),
    "Start with no memory at all, or mask it until it is written; zeros are not the same as none.": (
        "开头就不要用记忆，或在写入之前遮住它；零向量和没有不是一回事。"
    ),
    "{count} tokens stand both at the end of the memory and at the start of the segment: their keys count twice.": (
        "有 {count} 个 token 既在记忆的末尾，又在片段的开头：它们的键被算了两次。"
    ),
    "Feed only what the memory does not hold yet.": "只送入记忆里还没有的内容。",
    "The rows of L{layer} for the distances {first} to {last} were never trained, but the text uses {used} of them.": (
        "L{layer} 的表中距离 {first} 到 {last} 的行从未训练过，而这段文本用到了其中 {used} 行。"
    ),
    "Read no further than the model was trained to: a shorter segment or memory, a clamp, or an interpolated table.": (
        "不要读得比训练时更远：缩短片段或记忆，做截断，或对表插值。"
    ),
    "The rows of L{layer} for the distances {first} to {last} were never trained; nothing reads them up to {reach} "
    "tokens.": "L{layer} 的表中距离 {first} 到 {last} 的行从未训练过；在 {reach} 个 token 以内没有人读它们。",
    "Keep segment and memory within the training length.": "让片段和记忆保持在训练长度以内。",
    "The table has rows for the distances {first} to {last}, but {near} to {far} are visible: {cells} of them share "
    "its outermost rows.": (
        "表有距离 {first} 到 {last} 的行，但可见的距离是 {near} 到 {far}：其中 {cells} 个格子共用它最外面的行。"
    ),
    "Give a shorter text, or recompute or interpolate the table; code that slices it fails, or reads its other end.": (
        "给更短的文本，或者重算表、对表插值；切片取表的代码要么报错，要么读到另一端。"
    ),
    "The text uses distances up to {far}, but segment {tgt_len} and memory {mem_len} gave at most {trained} in "
    "training, and no clamp is in force.": (
        "这段文本用到的距离最大为 {far}，而训练时片段 {tgt_len}、记忆 {mem_len}，最多只到 {trained}，又没有截断。"
    ),
    "Set clamp_len to the training reach, as the authors' evaluation scripts do.": (
        "把 clamp_len 设为训练所及的距离，作者的评估脚本就是这样做的。"
    ),
    "Distances beyond {clamp_len} share one row: {share:.0%} of the visible cells.": (
        "超过 {clamp_len} 的距离共用一行：占可见格子的 {share:.0%}。"
    ),
    "Compare with the clamp_len of the training; the model cannot tell these distances apart.": (
        "与训练时的 clamp_len 比较；模型无法区分这些距离。"
    ),
    "The rows of L{layer} for the distances {first} to {last} are one and the same.": (
        "L{layer} 的表中距离 {first} 到 {last} 的行完全相同。"
    ),
    "A clamp was baked into the table, or it was padded with its last row: these distances cannot be told apart.": (
        "要么截断已固化在表里，要么表是用最后一行补长的：这些距离无法区分。"
    ),
    "Rows +d and -d are identical in L{layer} (largest difference {difference:.1g}): the heads cannot tell left "
    "from right.": "L{layer} 中 +d 与 -d 的行相同（最大差 {difference:.1g}）：各个头分不清左右。",
    "Fill the negative half of the table with sin(-p), not sin(p).": "表的负半边应填 sin(-p)，不是 sin(p)。",
    "Rows +d and -d are identical in L{layer}: {family} computes them so, and its heads cannot tell left from right.": (
        "L{layer} 中 +d 与 -d 的行相同：{family} 就是这样计算的，它的各个头分不清左右。"
    ),
    "Keep it so for these weights; a table with the sign put right would not fit them.": (
        "对这组权重请保持原样；把符号改对的表反而与它们不配。"
    ),
    "The frequencies in {tensor} are off by up to {error:.2g}: the sinusoid is wrong by 0.05 from distance {where} "
    "on.": "{tensor} 里的频率最多偏差 {error:.2g}：从距离 {where} 起，正弦的误差达到 0.05。",
    "Compute frequencies and phases in float32 whatever the model's dtype, and do not save them in half precision.": (
        "不管模型是什么精度，频率和相位都用 float32 计算，也不要用半精度保存。"
    ),
    "Positions make {share:.2g} of the scores of L{layer}: its attention is blind to order.": (
        "位置在 L{layer} 的得分里只占 {share:.2g}：它的注意力不分先后。"
    ),
    "Look whether W_kR was loaded, and whether the position term reaches the scores and is not turned into a mask.": (
        "看看 W_kR 是否载入了，位置项是否进入了得分、有没有被当成掩码。"
    ),
    "In {dtype} the scores of L{layer} are first not finite at the {step}, where float32 is fine.": (
        "用 {dtype} 时，L{layer} 的得分在{step}这一步首先不再有限，而 float32 没有问题。"
    ),
    "Compute scores, mask and softmax in float32; fill with the dtype's own lowest number, after the sum.": (
        "用 float32 计算得分、掩码和 softmax；在求和之后填入该类型自己的最小值。"
    ),
    "In {dtype} a probability of L{layer} moves by up to {moved:.2g}: the largest score is {largest:.3g}.": (
        "用 {dtype} 时，L{layer} 的概率最多变动 {moved:.2g}：最大的得分是 {largest:.3g}。"
    ),
    "Compute scores and softmax in float32.": "用 float32 计算得分和 softmax。",
    "All {count} captured tensors agree with this checkpoint: the largest difference is {largest:.2g}.": (
        "记录的 {count} 个张量全部与这个检查点一致：最大差 {largest:.2g}。"
    ),
    "Nothing needs to be done.": "什么也不用做。",
    "{tensor} is the first captured tensor that disagrees, by {residual:.2g}; none of {tried} hypotheses explains "
    "it.": "{tensor} 是第一个对不上的记录张量，相差 {residual:.2g}；试过的 {tried} 个假设没有一个能解释。",
    "Compare the inputs first (tokens, memory, padding), then the weights; more than one thing may be wrong.": (
        "先比较输入（token、记忆、padding），再比较权重；问题可能不止一处。"
    ),
    "{tensor} is the first captured tensor that disagrees, by {residual:.2g}. It agrees to {left:.2g} with "
    "{words}{place}.": (
        "{tensor} 是第一个对不上的记录张量，相差 {residual:.2g}。改用{words}{place}后即可对上，剩余差 {left:.2g}。"
    ),
    "{foreign} of {cells} visible cells of L{layer} read a position that is not theirs: {how}.": (
        "L{layer} 的 {cells} 个可见格子中有 {foreign} 个读到了不属于自己的位置：{how}。"
    ),
    "Give the shift a table of 2T-1 rows (both sides) or a causal mask, and count distances as memory + i - j.": (
        "给移位一张 2T-1 行的表（两边都有）或一个因果掩码，距离按 memory + i - j 计。"
    ),
    "{cells} visible cells of L{layer} read no position at all, those of the future.": (
        "L{layer} 有 {cells} 个可见格子不读任何位置，都属于未来。"
    ),
    "That is what zero_triu does; switch it off if the model should know how far ahead a key is.": (
        "这正是 zero_triu 的作用；如果模型应当知道键在前面多远，请把它关掉。"
    ),
    "{by_key:.0%} of v_bias in L{layer} is explained by the index of the key and {by_distance:.0%} by the distance: "
    "these positions are not relative.": (
        "L{layer} 的 v_bias 有 {by_key:.0%} 可由键的序号解释，{by_distance:.0%} 可由距离解释：这不是相对位置。"
    ),
    "Put the shift back in; without it row r of the table belongs to key r, whoever asks.": (
        "把移位放回去；没有它，表的第 r 行就属于键 r，不管谁来问。"
    ),
    "{tensor} holds {nan} NaN and {infinite} infinite numbers among {n}.": (
        "{tensor} 的 {n} 个数里有 {nan} 个 NaN 和 {infinite} 个无穷。"
    ),
    "Go back to the last checkpoint without them; look for a parameter nobody initialises, or a loss that overflows.": (
        "回到最近一个没有这些数的检查点；找找没有初始化的参数，或溢出的损失。"
    ),
    "{tensor} holds numbers up to {largest:.3g}, beyond {limit:g}: far from any weight that was trained or drawn.": (
        "{tensor} 里有大到 {largest:.3g} 的数，超过 {limit:g}：训练或初始化得到的权重远不至于此。"
    ),
    "Look at how it is initialised and whether its gradient is clipped.": "看看它是怎样初始化的，梯度有没有裁剪。",
    "{share:.0%} of {tensor} is denormal, below {least:.2g}: what stands in memory that nobody has filled.": (
        "{tensor} 有 {share:.0%} 是非规格化数，小于 {least:.2g}：没有人写过的内存就是这个样子。"
    ),
    "Find who should initialise it: torch.empty or torch.Tensor(...) without values is the usual cause.": (
        "找到本该初始化它的地方：常见原因是 torch.empty 或 torch.Tensor(...) 之后没有赋值。"
    ),
    "All {n} numbers of {tensor} are exactly 0.": "{tensor} 的 {n} 个数全都恰为 0。",
    "Find out whether it was loaded and whether the optimiser has it; a zero matrix passes nothing on.": (
        "查明它是否载入了、优化器里有没有它；全零矩阵什么也传不下去。"
    ),
    "{tensor} still looks as it was drawn, {law}: mean {mean:.4f}, standard deviation {std:.4f}, kurtosis "
    "{kurtosis:.2f}, no structure.": (
        "{tensor} 看起来仍是初始化时的样子，{law}：均值 {mean:.4f}，标准差 {std:.4f}，峰度 {kurtosis:.2f}，没有结构。"
    ),
    "Look whether its name was matched at loading (strict=False hides a miss) and whether the optimiser has it.": (
        "看看载入时名字是否匹配（strict=False 会掩盖不匹配），以及优化器里有没有它。"
    ),
    "{found} of {tested} matrices still look as they were drawn: these weights were never trained, or never loaded.": (
        "{tested} 个矩阵中有 {found} 个看起来仍是初始化时的样子：这些权重从未训练，或者从未载入。"
    ),
    "Build the model from the checkpoint and not from its config alone; print what load_state_dict returns.": (
        "模型要用检查点来建，不能只用它的配置；把 load_state_dict 返回的东西打印出来看看。"
    ),
    "{tensor} is bit for bit the same as {other}.": "{tensor} 与 {other} 逐比特相同。",
    "Look at how the layers were copied: a list that holds one module several times shares its weights.": (
        "看看各层是怎样复制的：把同一个模块多次放进列表，它们就共用权重。"
    ),
    "Load r_w_bias (or pos_bias_u) into u, and r_r_bias (pos_bias_v) into v.": (
        "把 r_w_bias（或 pos_bias_u）载入 u，把 r_r_bias（pos_bias_v）载入 v。"
    ),
}
