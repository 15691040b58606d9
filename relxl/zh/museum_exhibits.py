"""Chinese texts of the exhibits of the page "Bug museum" from the masks on; shift and table are in museum.py."""

TEXTS = {
    # masks
    "Mask before the shift": "掩码加在移位之前",
    "The triangle is laid on q · p, and then the shift moves the rows, triangle and all. It lands elsewhere: allowed "
    "cells are shut, cells of the future are open.": (
        "三角形先盖在 q · p 上，然后移位把各行连同三角形一起挪走。它落到了别处：允许的格子被关上，未来的格子却开着。"
    ),
    "The loss falls faster than it can; people look for where the causal mask of the relative term is.": (
        "损失下降得快过了可能的程度；人们到处找相对位置项的因果掩码到底在哪里。"
    ),
    "Mask once, after the sum of all terms.": "只加一次掩码，在各项求和之后。",
    "Keys of the future get **{leak}** of the attention, and {shut} of {cells} allowed cells get nothing.": (
        "未来的键得到 **{leak}** 的注意力，{cells} 个允许的格子中有 {shut} 个什么也没得到。"
    ),
    "A row without a key": "没有键的一行",
    "A padded query may attend to nothing: −∞ in every column, and the softmax of that is 0/0. Every layer above reads "
    "the row’s NaN, and one bad row spoils the batch.": (
        "被 padding 的查询什么也不能看：每一列都是 −∞，softmax 成了 0/0。上面的每一层都会读到这一行的 NaN，一行坏了，整"
        "个批次跟着坏。"
    ),
    "NaN from one padded query on, after attention was moved to a fused kernel with the same mask.": (
        "把注意力换成融合的 kernel、掩码照旧之后，从一个被 padding 的查询起全是 NaN。"
    ),
    "A finite fill, and the probabilities of forbidden keys set to 0 after the softmax.": (
        "用有限的填充值，并在 softmax 之后把被禁止的键的概率置 0。"
    ),
    "Row **{row}** is NaN in every cell; repaired, no row is.": "第 **{row}** 行每个格子都是 NaN；修好之后一行也没有。",
    "same_length lets every query see as many keys. Is that mem_len of them, or mem_len + 1 with itself? Two ports of "
    "one model answered differently.": (
        "same_length 让每个查询看到同样多的键。是 mem_len 个，还是连自己 mem_len + 1 个？同一个模型的两个移植版回答"
        "不同。"
    ),
    "PyTorch and TensorFlow gave other numbers for the same weights, and the oldest slot was never read.": (
        "同样的权重，PyTorch 和 TensorFlow 给出不同的数，而最旧的那个位置从来没有被读过。"
    ),
    "Agree on the window, and count the keys of a row.": "约定好窗口，并数一数一行有几个键。",
    "The last row sees **{keys} keys** where {right} are meant; the one that is shut had up to {mass} of a row.": (
        "最后一行看到 **{keys} 个键**，本应是 {right} 个；被关掉的那个曾占到一行的 {mass}。"
    ),
    "Mask upside down": "掩码弄反了",
    "A bool mask says true where a query may look, an additive one 0. A not on the wrong one of the two turns the "
    "meaning round: all of the future, nothing of the past.": (
        "布尔掩码用 true 表示可以看，相加的掩码用 0 表示。对两者中不该取反的那个取了反，意思就倒过来了：未来全看到，过"
        "去什么也没有。"
    ),
    "Two ways through one library, fused and eager, disagreed wildly: each had its own kind of mask.": (
        "同一个库里的两条路径，融合的和 eager 的，结果相差极大：各自用的是不同种类的掩码。"
    ),
    "Look at dtype and values of a mask, and at the share that it allows, before it is used.": (
        "使用之前，先看掩码的数据类型和取值，再看它允许的比例。"
    ),
    "A bias taken for a mask": "偏置被当成掩码",
    "The position scores are handed over as an additive mask, and the backend makes it bool. Every number but 0 is "
    "true, so nothing is masked and the numbers are gone.": (
        "位置得分以相加掩码的形式交出去，后端却把它变成了布尔值。除 0 以外的数都是 true，于是什么也没遮住，数值也丢了。"
    ),
    "Transcripts became worse on one kind of device alone.": "只在一种设备上，转写结果变差了。",
    "A mask that holds many finite values is a bias: add it to the scores.": (
        "掩码里若有许多不同的有限值，那它就是偏置：请加到得分上。"
    ),
    "Position carried **{share}** of what tells the keys of this head apart, and now it is 0 in every cell.": (
        "这个头区分各个键，**{share}** 靠的是位置，现在位置在每个格子里都是 0。"
    ),
    "The mask’s result thrown away": "掩码的结果被丢掉",
    "masked_fill without the underscore gives a new tensor, and nobody takes it. There is no warning: the "
    "probabilities still add up to 1.": (
        "不带下划线的 masked_fill 会给出一个新张量，却没有人接住它。不会有任何警告：概率加起来仍然是 1。"
    ),
    "An agent’s attention ran without its mask; elsewhere a mask of bytes met a bitwise not.": (
        "有个智能体的注意力就这样不带掩码地运行；另一处则是字节类型的掩码遇上了按位取反。"
    ),
    "Take the result, and test that scores changed: a mask that changes nothing is none.": (
        "接住结果，并检查得分变了没有：什么都没改变的掩码等于没有。"
    ),
    "Keys of the future get **{leak}** of the attention.": "未来的键得到 **{leak}** 的注意力。",
    "A fill that is no fill": "不起作用的填充值",
    "+1e-9 was written where −1e9 is meant, and that is 0: a score like any other. Even −1e4 holds only as long as no "
    "score comes near it.": (
        "该写 −1e9 的地方写成了 +1e-9，那就是 0：和别的得分没有两样。就连 −1e4，也只在没有得分接近它时才管用。"
    ),
    "One library replaced −1e4 by the lowest number of the dtype.": "有个库把 −1e4 换成了该数据类型的最小值。",
    "−∞, or the lowest number of the dtype, after the sum.": "求和之后用 −∞，或该数据类型的最小值。",
    # biases and scale
    "u never initialised": "u 从未初始化",
    "A parameter made by torch.empty holds what lay in memory: often nothing, sometimes NaN, sometimes one huge "
    "number. Here u is 300 in one dimension, and all queries want the same few keys.": (
        "由 torch.empty 得到的参数，里面是内存里原有的东西：常常是空的，有时是 NaN，有时是一个极大的数。这里 u 在一个维"
        "度上是 300，于是所有查询都想要同样的几个键。"
    ),
    "Losses that differ from run to run, or are NaN at the first step; the init function skipped the name.": (
        "每次运行损失都不同，或者第一步就是 NaN；初始化函数漏掉了这个名字。"
    ),
    "Give u and v their values where they are made.": "在创建 u 和 v 的地方就给它们赋值。",
    "|u| reaches **{u_wrong}** and was {u_right} at most; the favourite key gets {top_wrong} of all attention, and got "
    "{top_right}.": (
        "|u| 达到 **{u_wrong}**，原来最大是 {u_right}；最受欢迎的键得到全部注意力的 {top_wrong}，原来是 {top_right}。"
    ),
    "r_w_bias, r_r_bias, pos_bias_u, query_pos_bias: the names do not tell which goes with content and which with "
    "position. Both have one shape, so swapped they load.": (
        "r_w_bias、r_r_bias、pos_bias_u、query_pos_bias：从名字看不出哪个配内容、哪个配位置。两者形状相同，换了也照样载"
        "入。"
    ),
    "Asked of the original: which is which? A well-known tutorial has u under the name of v.": (
        "有人问过原版：哪个是哪个？一份知名的教程里，u 用的是 v 的名字。"
    ),
    "r_w_bias is u and makes (c), r_r_bias is v and makes (d).": "r_w_bias 是 u，构成 (c)；r_r_bias 是 v，构成 (d)。",
    "The biases, (c) and (d), carry **{biases_wrong}** of the score and carried {biases_right}.": (
        "偏置项 (c) 和 (d) 占得分的 **{biases_wrong}**，原来占 {biases_right}。"
    ),
    "One layer’s u and v everywhere": "到处用同一层的 u 和 v",
    "Some implementations share u and v between layers, others have one pair a layer. Read as if they were shared, one "
    "layer’s pair goes into all of them, here that of another layer.": (
        "有的实现各层共用 u 和 v，有的每层一对。按共用来读，某一层的那一对就进了所有层，这里用的是另一层的。"
    ),
    "A port to another library had to find out that the weights that were released are not tied.": (
        "往另一个库移植时才发现，发布的权重并没有绑定。"
    ),
    "Load one pair a layer; equal pairs in all layers are a sign.": "每层载入自己的一对；各层都相同就是征兆。",
    "u differs from its own layer’s by up to **{apart}**; its largest number is {size}.": (
        "u 与本层自己的最多相差 **{apart}**；本层 u 里最大的数是 {size}。"
    ),
    "√d_model for √d_head": "该用 √d_head 却用了 √d_model",
    "The scores are divided by the root of the model’s width and not of one head’s, so they are smaller by √n_head, "
    "and attention is flatter.": (
        "得分除以了模型宽度的平方根，而不是一个头的宽度的平方根，于是小了 √n_head 倍，注意力更平。"
    ),
    "Copied from one repository to the next, and found in tutorials of plain attention too.": (
        "从一个仓库抄到另一个仓库，普通注意力的教程里也有。"
    ),
    "Divide by √d_head, once.": "除以 √d_head，只除一次。",
    "Scores are smaller by **{factor}**; the mean entropy of a row rises from {entropy_right} to {entropy_wrong} nats, "
    "and {even} would be no choice at all.": (
        "得分小了 **{factor}** 倍；一行的平均熵从 {entropy_right} 升到 {entropy_wrong} nat，而 {even} 就等于毫无选择。"
    ),
    "Scaled before the biases": "加偏置之前就缩放",
    "(q + u) scaled is one model, q scaled and then + u another. Ported from one to the other, (c) and (d) are off by "
    "√d_head and (a) and (b) are not.": (
        "(q + u) 一起缩放是一种模型，先缩放 q 再加 u 是另一种。从一种移植到另一种，(c) 和 (d) 差了 √d_head 倍，(a) 和 "
        "(b) 则没有。"
    ),
    "A genomics model adds its biases after scaling the query; others scale both.": (
        "有个基因组模型在缩放查询之后才加偏置；别的模型两者都缩放。"
    ),
    "Scale what the training scaled.": "训练时缩放什么，就缩放什么。",
    "(c) and (d) are **{factor} times** too large; they carry {biases_wrong} of the score and carried "
    "{biases_right}.": ("(c) 和 (d) 大了 **{factor} 倍**；它们占得分的 {biases_wrong}，原来占 {biases_right}。"),
    # memory
    "Memory that nobody wrote": "没有人写过的记忆",
    "The first segment starts with a memory of zeros that no mask hides. A vector of zeros still has a key, by its "
    "bias or by its distance, and gets its part of the softmax.": (
        "第一个片段以一段全零的记忆开始，却没有掩码遮住它。零向量靠偏置或距离仍有得分，会在 softmax 里分走一份。"
    ),
    "Two ports disagreed on the first segment alone; empty memory is not the same as none.": (
        "两个移植版只在第一个片段上不一致；空的记忆不等于没有记忆。"
    ),
    "Start without memory, or hide slots until they are written.": "一开始不要记忆，或者在写入之前把位置遮住。",
    "{slots} slots that hold nothing get **{mass}** of the attention.": (
        "{slots} 个什么也没有的位置得到 **{mass}** 的注意力。"
    ),
    "The prompt read twice": "提示词读了两遍",
    "The memory holds the prompt already, and the whole prompt is fed again: every key stands there twice, the second "
    "time {slots} places away.": (
        "记忆里已经有了提示词，整段提示词却又输入了一遍：每个键都出现两次，第二次相隔 {slots} 个位置。"
    ),
    "Texts that repeat themselves, and no gain in speed from the memory.": "文本自我重复，记忆也没有带来任何加速。",
    "The copies get **{mass}** of the attention.": "副本得到 **{mass}** 的注意力。",
    "Memory not carried on": "记忆没有传下去",
    "The memory of the last segment is not handed to the next one. Nothing fails, but the first tokens of every "
    "segment have hardly anything to read.": (
        "上一个片段的记忆没有交给下一个。什么也不会失败，但每个片段开头的几个 token 几乎没有东西可读。"
    ),
    "A reported perplexity that nobody could reach, and 35, 24 or 20 for the same weights.": (
        "报告的困惑度谁也复现不了，同样的权重有 35、24 和 20 几种结果。"
    ),
    "Hand the memory on, and state segment and memory length with every perplexity.": (
        "把记忆传下去，并且每给出一个困惑度都说明片段和记忆的长度。"
    ),
    "The {slots} keys of the memory had **{mass}** of the attention.": (
        "记忆里的 {slots} 个键本来占有 **{mass}** 的注意力。"
    ),
    "A stale mask": "过期的掩码",
    "A mask made at the first call, without memory, is kept and used again with one. It compares i with j where the "
    "key stands at m + i, and shuts most of the segment.": (
        "第一次调用时没有记忆，做出的掩码被缓存下来，到了有记忆时又拿来用。键在 m + i 处，它比较的却是 i 和 j，于是关掉"
        "了片段的大部分。"
    ),
    "Tables and masks that are cached by the length alone: right at the first call, wrong at the next.": (
        "只按长度缓存的表和掩码：第一次调用是对的，下一次就错了。"
    ),
    "Key a cache by all that it depends on: query length, memory, dtype, device.": (
        "缓存的键要包含它所依赖的一切：查询长度、记忆、数据类型、设备。"
    ),
    "**{shut} of {cells}** allowed cells are shut.": "允许的格子 **{cells} 个中有 {shut} 个**被关上了。",
    # precision and files
    "A fill that half precision does not have": "半精度里没有的填充值",
    "−1e30 is a large number in float32 and −∞ in float16. A padded row has then nothing else, and becomes NaN, in "
    "mixed precision alone.": (
        "−1e30 在 float32 里是个很大的负数，在 float16 里却是 −∞。被 padding 的一行因此全是 −∞，只在混合精度下变成 "
        "NaN。"
    ),
    "NaN losses in half precision, in XLNet’s −1e30 and in a −1e8 elsewhere.": (
        "半精度下损失变成 NaN：XLNet 是因为 −1e30，另一处是因为 −1e8。"
    ),
    "The lowest number of the dtype that the scores have.": "用得分所属数据类型的最小值。",
    "Sinusoid in half precision": "半精度的正弦",
    "Phases computed in bfloat16 lose their last bits, and from 257 on not even every whole number exists. Near "
    "distances hardly change, far ones are read somewhere else.": (
        "用 bfloat16 算的相位丢了末尾几位，从 257 起连整数都不再个个存在。近的距离几乎不变，远的则读到了别处。"
    ),
    "Reported as the cause of garbage in half precision. That report was later explained in another way; the error of "
    "the phases is real.": "曾被报告为半精度下输出乱码的原因。那份报告后来另有解释；但相位的误差是真的。",
    "Compute positions and phases in float32, and round the finished table.": (
        "位置和相位都用 float32 计算，做好的表再舍入。"
    ),
    "p_d is off by up to **{error}** for distances up to {near}, and by {far_error} up to {far}; its largest number is "
    "{size}.": (
        "距离到 {near} 为止，p_d 最多差 **{error}**；到 {far} 为止，最多差 {far_error}；p_d 里最大的数是 {size}。"
    ),
    "A kernel transposed": "kernel 转置了",
    "TensorFlow stores a kernel as [in out], PyTorch as [out in]. Where both are equal no shape complains, and W x "
    "becomes Wᵀ x.": (
        "TensorFlow 把 kernel 存成 [in out]，PyTorch 存成 [out in]。两者相等时形状不会报错，W x 就成了 Wᵀ x。"
    ),
    "Weights converted from one framework to the other, and a strict=False that hides the rest.": (
        "权重从一个框架转换到另一个，再加上 strict=False 把其余的问题也藏了起来。"
    ),
    "Compare scores with a captured run, and not shapes.": "要与捕获的运行比较得分，而不是比较形状。",
    "W_q is {n} × {n}, and fits either way.": "W_q 是 {n} × {n}，怎么放都装得进去。",
    "Weights not loaded": "权重没有载入",
    "A model is built from its config and the file is never read, or its names do not match and strict is off. Here "
    "W_q and W_k are as they were drawn, of std 0.02.": (
        "模型按配置建好了，文件却从没读过，或者名字对不上而 strict 又关着。这里 W_q 和 W_k 还是初始化时的样子，标准差 "
        "0.02。"
    ),
    "Nonsense that is another one in every run, and no error message.": (
        "每次运行都胡言乱语，而且次次不同，却没有报错。"
    ),
    "Count the tensors that came from the file, and refuse when one of the attention is missing.": (
        "数一数有多少张量来自文件，只要缺了属于注意力的，就拒绝载入。"
    ),
    "The mean entropy of a row goes from {entropy_right} to **{entropy_wrong}** nats; {even} would be no choice at "
    "all.": "一行的平均熵从 {entropy_right} 变为 **{entropy_wrong}** nat；{even} 就等于毫无选择。",
}
