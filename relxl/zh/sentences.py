"""Chinese texts of what is wrong with a setting, a text or a reference."""

TEXTS = {
    "is a TorchScript archive, which is a program, but relxl opens state dicts: load it with torch.jit.load and "
    "save its state_dict()": (
        "是 TorchScript 存档，即一个程序，而 relxl 打开的是 state dict：请用 torch.jit.load 载入，再保存它的 "
        "state_dict()"
    ),
    "is a NumPy archive (.npz), but relxl opens .safetensors and torch files: convert it first": (
        "是 NumPy 存档（.npz），而 relxl 打开 .safetensors 和 torch 文件：请先转换"
    ),
    "is a zip that packs other files ({0}): unpack it and open the folder": (
        "是打包了其他文件（{0}）的 zip：请解包后打开文件夹"
    ),
    "is a zip, but not one that torch.save wrote (it has no data.pkl): give the file with the weights": (
        "是 zip，但不是 torch.save 写的（没有 data.pkl）：请给含有权重的文件"
    ),
    "is a zip with a member {0}, whose name leads out of the file: do not use it": (
        "是含有成员 {0} 的 zip，其名字指向包外：不要使用"
    ),
    "is a zip whose member {0} is encrypted: save it without a password": "是成员 {0} 加了密的 zip：请不带密码重新保存",
    "is a zip whose member {0} is compressed and would unfold from {1} to {2} bytes, but torch.save never "
    "compresses: unpack it, or save it again with torch.save": (
        "是 zip，其成员 {0} 经过压缩，会从 {1} 字节膨胀到 {2} 字节，而 torch.save 从不压缩：请解包，或用 torch.save "
        "重新保存"
    ),
    "the period must be from 1 to n_token={0}, since no token comes twice in it: {1}": (
        "周期必须从 1 到 n_token={0}，因为周期内没有 token 出现两次：{1}"
    ),
    "the measuring process ended with code {0}; was there memory enough?": "测量进程以代码 {0} 结束；内存够吗？",
    "length must be 2 or more, for one key leaves nothing to choose, got {0}": (
        "length 必须至少为 2，因为只有一个键就没有选择可言，得到 {0}"
    ),
    "only {0} can be scaled, got {1}": "只能缩放 {0}，得到 {1}",
    "an initial scale belongs to relative attention, and this {0} has none": "初始尺度属于相对注意力，而这个 {0} 没有",
    "x has shape {0}, but length={1} and d_model={2} need {3}": "x 的形状为 {0}，而 length={1}、d_model={2} 需要 {3}",
    "give {0} to {1} different scales, got {2}": "请给 {0} 到 {1} 个不同的尺度，得到 {2}",
    "a scale must be a finite number above 0, got {0}": "尺度必须是大于 0 的有限数，得到 {0}",
    "the start of a training has at most {0} steps here, got steps={1}": "这里的训练开头最多 {0} 步，得到 steps={1}",
    "the losses of scale {0} are not there, only those of {1}": "没有尺度 {0} 的损失，只有 {1} 的",
    "convention must be one of {0}, got {1}": "convention 必须是 {0} 之一，得到 {1}",
    "this checkpoint's training.json does not say which rows of the table got a gradient": (
        "这个检查点的 training.json 没有说表的哪些行得到过梯度"
    ),
    "{0} has {1} positions, which have no table: open a learned one": "{0} 的位置是 {1}，没有表：请打开一个可学习表的",
    "{0}: training.json counts the gradients of {1} rows, but the tables have {2}: it belongs to another model": (
        "{0}：training.json 记录了 {1} 行的梯度，而表有 {2} 行：它属于另一个模型"
    ),
    "the layers of this model have tables of different lengths: they can not be set side by side": (
        "这个模型各层的表长度不同：无法并排比较"
    ),
    "{0} streams of a text of {1} tokens have {2} to {3} tokens to score, but {4} were asked for": (
        "{1} 个 token 的文本分成 {0} 条流，各有 {2} 到 {3} 个 token 可计分，而要求 {4} 个"
    ),
    "segments have 1 token or more and memories 0 or more, got {0} and {1}": (
        "片段至少 1 个 token，记忆至少 0 个，得到 {0} 和 {1}"
    ),
    "streams of {0} characters leave nothing to score after the first {1}, which fill the memory: give more "
    "characters, or shorter segments and memories": (
        "{0} 个字符的流，前 {1} 个用来填满记忆，之后就没有可计分的了：请给更多字符，或更短的片段和记忆"
    ),
    "this model reads hidden states and predicts no token, so it has no loss: open a language model": (
        "这个模型读取隐藏状态，不预测 token，所以没有损失：请打开语言模型"
    ),
    "this model sees both sides, the token that it should predict too, so its loss on the next token says nothing: "
    "open a causal model": (
        "这个模型两边都看，连要预测的 token 也看得到，所以下一个 token 的损失说明不了什么：请打开因果模型"
    ),
    "this model reads hidden states, so there is no text to cut into segments: use run_hidden": (
        "这个模型读取隐藏状态，没有文本可切成片段：请用 run_hidden"
    ),
    "segment {0} was asked for, but this text has the segments 0 to {1}": (
        "要求第 {0} 个片段，而这段文本的片段是 0 到 {1}"
    ),
    "{0} ends in {1}, but arrays are written to .npz or .safetensors: change --out": (
        "{0} 以 {1} 结尾，而数组要写成 .npz 或 .safetensors：请改 --out"
    ),
    "{0} holds the token id {1}, but the checkpoint has ids 0 to {2}": (
        "{0} 里有 token 编号 {1}，而检查点的编号是 0 到 {2}"
    ),
    "{0} must hold {1}: a JSON list of whole numbers, a list of such lists of one length, or numbers apart by white "
    "space": "{0} 里必须是{1}：整数的 JSON 列表、等长的此类列表的列表，或以空白分隔的数",
    "{0} has no floating array named `hidden`: name the layer inputs [batch len d_model] so": (
        "{0} 里没有名为 `hidden` 的浮点数组：请把层输入 [batch len d_model] 命名为它"
    ),
    "`{0}` in {1} has shape {2}, but this checkpoint needs [batch len {3}]": (
        "{1} 中的 `{0}` 形状为 {2}，而这个检查点需要 [batch len {3}]"
    ),
    "{0} has {1}, but the memory is `mems` for all layers or mems.0 to mems.{2}, one a layer": (
        "{0} 里有 {1}，而记忆应是适用于所有层的 `mems`，或每层一个的 mems.0 到 mems.{2}"
    ),
    "`{0}` in {1} is {2} {3}, but memories are floats of one length and of the batch of `hidden`, {4}": (
        "{1} 中的 `{0}` 是 {2} {3}，而记忆应是等长、批次与 `hidden` 相同的浮点数，{4}"
    ),
    "`mask` in {0} is {1} {2}, but 0 and 1 are needed of [{3} {4}] or [{5} {6} {7}]": (
        "{0} 中的 `mask` 是 {1} {2}，而应是 [{3} {4}] 或 [{5} {6} {7}] 的 0 和 1"
    ),
    "{0} is no .npz or .safetensors of numbers: save {1} as one": (
        "{0} 不是由数组成的 .npz 或 .safetensors：请把{1}存成这种文件"
    ),
    "has more than the {0} bytes that are read of such a file: give fewer frames": (
        "超过这类文件读取上限的 {0} 字节：请减少帧数"
    ),
    "{0} claims more memory than there is: do not use it": "{0} 要求的内存比现有的还多：不要使用",
    "{0} is no .npz or .safetensors of numbers ({1}): save {2} as one": (
        "{0} 不是由数组成的 .npz 或 .safetensors（{1}）：请把{2}存成这种文件"
    ),
    "{0} is there twice, or too large": "{0} 出现了两次，或者太大",
    "{0} is not of the size that it says, {1}": "{0} 的大小与它声称的不符，{1}",
    "this is {0}: relxl opens {1}": "这是 {0}：relxl 打开的是 {1}",
    "no family is known by these {0} names ({1}): relxl opens {2}": (
        "从这 {0} 个名字（{1}）认不出任何家族：relxl 打开的是 {2}"
    ),
    "family {0} was chosen, but the names in this file are those of {1}": (
        "选择的家族是 {0}，而这个文件里的名字属于 {1}"
    ),
    "this is a file of {0}, but {1}: the file is damaged": "这是 {0} 的文件，但{1}：文件已损坏",
    "this is a file of {0}, but it lacks {1}: give the whole checkpoint": (
        "这是 {0} 的文件，但缺少 {1}：请给完整的检查点"
    ),
    "{0}word_emb.emb_layers.0.weight is not there: the file holds no language model": (
        "没有 {0}word_emb.emb_layers.0.weight：文件里不是语言模型"
    ),
    "the config says cutoffs={0}, but the embedding tables are cut at {1}: the two belong to different models": (
        "配置说 cutoffs={0}，而嵌入表是在 {1} 处切开的：两者属于不同的模型"
    ),
    "the vocabulary of {0} tokens is cut into {1} clusters and the tensors do not say where: give cutoffs of {2} "
    "rising numbers below {3} ({4})": (
        "{0} 个 token 的词表切成了 {1} 个簇，而张量没有说在哪里切：请给出 cutoffs，即 {2} 个小于 {3} 的递增整数（{4}）"
    ),
    "{0} has nothing called {1} to choose: it asks for {2}": "{0} 没有名为 {1} 的选项：它询问的是 {2}",
    "{0} says {1}={2}, but it must be {3}: correct it": "{0}说 {1}={2}，而它必须是{3}：请改正",
    "{0} is {1} {2}, but floats of [{3}] are needed beside the other tensors: the file is damaged, or not of this "
    "family": "{0} 是 {1} {2}，而与其他张量相配需要 [{3}] 的浮点数：文件已损坏，或不属于这个家族",
    "{0} {1}, but its axis {2} says a size of the model: the file is damaged": (
        "{0} {1}，而它的第 {2} 轴决定模型的一个尺寸：文件已损坏"
    ),
    "the config says {0}={1}, but the tensors say {2}: the two belong to different models": (
        "配置说 {0}={1}，而张量说是 {2}：两者属于不同的模型"
    ),
    "{0}key_pos_embeddings has {1} rows, but a table of labml has 2P: it is damaged": (
        "{0}key_pos_embeddings 有 {1} 行，而 labml 的表有 2P 行：它已损坏"
    ),
    "{0}{1} has {2} x {3} numbers, but d_model is {4}: the file is damaged": (
        "{0}{1} 有 {2} x {3} 个数，而 d_model 是 {4}：文件已损坏"
    ),
    "same_length with mem_len=0 leaves every query without a key: give the mem_len it is used with": (
        "same_length 加上 mem_len=0 会让每个查询都没有键：请给出它使用时的 mem_len"
    ),
    "a Wav2Vec2-Conformer has no memory and a mask of one mark a frame, [batch len]: give such": (
        "Wav2Vec2-Conformer 没有记忆，掩码是每帧一个标记，[batch len]：请给这样的"
    ),
    "the config says position_embeddings_type={0}, but only 'relative' positions have the four terms: open another "
    "model": "配置说 position_embeddings_type={0}，而只有 'relative' 位置才有这四项：请打开另一个模型",
    "{0} jobs of this session wait or run, and no more than {1} may: wait for one to end, or cancel one": (
        "这个会话有 {0} 个任务在等待或运行，最多只能有 {1} 个：请等一个结束，或取消一个"
    ),
    "the mask holds values from {0} to {1}, but it must say true or 1 where a query may attend, false or 0 "
    "elsewhere: an additive mask is not one": (
        "掩码的值从 {0} 到 {1}，而它必须在查询可以看的地方为 true 或 1，其他地方为 false 或 0：加性掩码不行"
    ),
    "the mask has shape {0}, but {1} queries and {2} keys in a batch of {3} need [{4} {5}], [{6} {7} {8}] or [{9} "
    "{10} {11} {12}]": (
        "掩码的形状为 {0}，而批次 {3} 中的 {1} 个查询和 {2} 个键需要 [{4} {5}]、[{6} {7} {8}] 或 [{9} {10} {11} {12}]"
    ),
    "{0} must be one of {1}, got {2}": "{0} 必须是 {1} 之一，得到 {2}",
    "dtype must be one of {0} or None, got {1}": "dtype 必须是 {0} 之一或 None，得到 {1}",
    "fill must be a number, 'min' or 'multiply', got {0}": "填充值必须是数、'min' 或 'multiply'，得到 {0}",
    "window must be a whole number from 1, or None, got {0}": "window 必须是不小于 1 的整数，或 None，得到 {0}",
    "the fault 'window_short' needs a window: give window=, the keys that a query sees": (
        "错误 'window_short' 需要窗口：请给出 window=，即一个查询看到多少个键"
    ),
    "a mask before the shift needs relative positions: absolute ones have no shift": (
        "移位之前的掩码需要相对位置：绝对位置没有移位"
    ),
    "mask_fill must be a number, 'min' or 'multiply', got {0}": "mask_fill 必须是数、'min' 或 'multiply'，得到 {0}",
    "d_model must be a multiple of n_heads, got d_model={0} and n_heads={1}": (
        "d_model 必须是 n_heads 的倍数，得到 d_model={0}、n_heads={1}"
    ),
    "max_len must be 1 or more, got {0}": "max_len 必须至少为 1，得到 {0}",
    "tokens must be [batch query] with at least one token, got shape {0}": (
        "tokens 必须是至少含一个 token 的 [batch query]，得到形状 {0}"
    ),
    "clamp_len must be 0 or more tokens (or None for no clamp), got {0}": (
        "clamp_len 必须是 0 或更多个 token（None 表示不截断），得到 {0}"
    ),
    "the table has rows for the distances {0} to {1} (max_len={2}), but {3} to {4} are asked for: clamp them, "
    "interpolate the table, or train with max_len={5} or more": (
        "表有距离 {0} 到 {1} 的行（max_len={2}），但要用到 {3} 到 {4}：请截断距离、对表插值，或用 max_len={5} 以上训练"
    ),
    "a table of max_len={0} can not be cut to max_len={1}: give a smaller one, or interpolate": (
        "max_len={0} 的表不能裁成 max_len={1}：请给更小的值，或插值"
    ),
    "near must be a distance that both tables have, 0 to {0}, got {1}": (
        "near 必须是两张表都有的距离，0 到 {0}，得到 {1}"
    ),
    "a position table has 2*max_len - 1 rows, an odd number, got {0}": "位置表有 2*max_len - 1 行，是奇数，得到 {0}",
    "a sinusoid needs an even number of dimensions, 2 or more, got {0}": "正弦需要不小于 2 的偶数维，得到 {0}",
    "a table is interpolated or truncated, not both, got interpolate={0} and truncate={1}": (
        "表要么插值要么裁剪，不能都做，得到 interpolate={0}、truncate={1}"
    ),
    "near={0} says what stays when a table is stretched: give interpolate as well": (
        "near={0} 说的是拉伸表时保留什么：请同时给出 interpolate"
    ),
    "clamp_len must be 0 or more tokens (or None for the model's own), got {0}": (
        "clamp_len 必须是 0 或更多个 token（None 表示用模型自己的），得到 {0}"
    ),
    "absolute positions know no distance to clamp, stretch or flip: open a model with relative ones": (
        "绝对位置没有距离可以截断、拉伸或翻转：请打开用相对位置的模型"
    ),
    "only a learned table can be stretched or cut, but this model's positions are a {0}, which has a row for every "
    "distance: give clamp_len alone": (
        "只有可学习的表能拉伸或裁剪，而这个模型的位置是 {0}，每个距离都有一行：请只给 clamp_len"
    ),
    "this table has rows for the distances {0} to {1}, all of the past: it has no row of -d to read in the place of "
    "d": "这张表有距离 {0} 到 {1} 的行，全部属于过去：没有 -d 的行可以代替 d 来读",
    "attention needs at least one query and one key and no negative memory, got query_len={0}, key_len={1}, "
    "mem_len={2}": "注意力至少需要一个查询和一个键，记忆不能为负，得到 query_len={0}、key_len={1}、mem_len={2}",
    "position_key has shape {0}, but {1} heads, the {2} distances of the pair map and d_head {3} need {4}": (
        "position_key 的形状为 {0}，而 {1} 个头、映射的 {2} 个距离和 d_head {3} 需要 {4}"
    ),
    "head {0} was asked for, but the model has heads 0 to {1}": "要求头 {0}，而模型的头是 0 到 {1}",
    "tokenizer.json lies beside the weights, but the package that reads it is not installed here: pip install "
    "tokenizers, or type token ids": (
        "权重旁边有 tokenizer.json，但这里没有安装读取它的包：请 pip install tokenizers，或输入 token 编号"
    ),
    "tokenizer.json can not be read, since its contents are not what they seem: {0}": (
        "tokenizer.json 无法读取，因为它的内容不是看上去的那样：{0}"
    ),
    "the text has {0} characters, but at most {1} are read: shorten it": "文本有 {0} 个字符，而最多读取 {1} 个：请缩短",
    "{0} is no id of a vocabulary of {1}": "{0} 不是 {1} 词表里的编号",
    "the model has n_token={0}, but a tokenizer.json is read for at most {1}: take it out of the folder and type "
    "token ids": "模型的 n_token={0}，而 tokenizer.json 最多读到 {1}：请把它移出文件夹，改为输入 token 编号",
    "tokenizer.json has {0} bytes, but at most {1} are read: leave it out": (
        "tokenizer.json 有 {0} 字节，而最多读取 {1}：请不要放它"
    ),
    "layer {0} was asked for, but the model has layers 0 to {1}": "要求第 {0} 层，而模型的层是 0 到 {1}",
    "a run needs at least one token after the memory, got tokens of shape {0} and mem_len={1}: give a longer text "
    "or a shorter memory": (
        "记忆之后至少要有一个 token，得到形状 {0} 的 token 和 mem_len={1}：请给更长的文本或更短的记忆"
    ),
    "{0} reads a segment whole, so no memory can be made of its first frames: give the memory of each layer itself": (
        "{0} 把一个片段整个读入，所以不能用它的前几帧做记忆：请直接给出每层的记忆"
    ),
    "a vocabulary must be a non-empty JSON list of strings": "词表必须是非空的 JSON 字符串列表",
    "a vocabulary must hold single characters, but it has {0}": "词表里必须是单个字符，但有 {0}",
    "a vocabulary must not name a token twice, but {0} comes more than once": (
        "词表不能重复 token，但 {0} 出现了不止一次"
    ),
    "a vocabulary must have at most {0} lines, but there are {1}": "词表最多 {0} 行，但有 {1} 行",
    "a vocabulary must have a word a line, but there is none": "词表必须一行一个词，但一个也没有",
    "a vocabulary that is a JSON object must give every word a whole number from 0": (
        "JSON 对象形式的词表必须给每个词一个从 0 开始的整数"
    ),
    "a vocabulary must not give two words one id, but it gives {0} to {1} and {2}, and has {3} words with {4} ids": (
        "词表不能让两个词同号，但它把 {0} 给了 {1} 和 {2}，共有 {3} 个词、{4} 个编号"
    ),
    "{0} has the id {1}, but the model has n_token={2}": "{0} 的编号是 {1}，而模型的 n_token={2}",
    "a vocabulary must have at most {0} tokens, but there are about {1}": "词表最多 {0} 个 token，但大约有 {1} 个",
    "a vocabulary must be a JSON list of strings, or a JSON object of strings with their ids": (
        "词表必须是 JSON 字符串列表，或由字符串及其编号组成的 JSON 对象"
    ),
    "it is UTF-16, but UTF-8 is read: convert it with iconv -f UTF-16 -t UTF-8": (
        "它是 UTF-16，而读取的是 UTF-8：请用 iconv -f UTF-16 -t UTF-8 转换"
    ),
    "line {0} has the byte 0x{1}, which is not UTF-8 but perhaps {2}: convert it with iconv -f {3} -t UTF-8": (
        "第 {0} 行有字节 0x{1}，它不是 UTF-8，可能是 {2}：请用 iconv -f {3} -t UTF-8 转换"
    ),
    "a vocabulary must not name a word twice, but {0} comes {1} times, first at {2}s {3} and {4}{5}": (
        "词表不能重复一个词，但 {0} 出现了 {1} 次，最早在 {2} {3} 和 {4}{5}"
    ),
    "is a damaged safetensors file": "是损坏的 safetensors 文件",
    "{0} has {1}, which says nothing here: it should have {2}": "{0} 里有 {1}，在这里没有意义：应当有 {2}",
    "{0} has no probs.{layer} and no logits.{layer}: save {1}": (
        "{0} 里没有 probs.{layer}，也没有 logits.{layer}：请保存 {1}"
    ),
    "{0} does not say what went in: save {1}": "{0} 没有说明输入是什么：请保存 {1}",
    "`{0}` in {1} has shape {2}: save {3}": "{1} 中的 `{0}` 形状为 {2}：请保存 {3}",
    "a reference needs relative positions: this model's are absolute": "参考运行需要相对位置：这个模型用的是绝对位置",
    "{0} has layer {1}, but the model has layers 0 to {2}": "{0} 有第 {1} 层，但模型的层是 0 到 {2}",
    "{0} has the tokens {1} to {2}, but the model {3}": "{0} 的 token 是 {1} 到 {2}，但模型{3}",
    "hidden in {0} has shape {1}, but the model reads {2} numbers": "{0} 中的 hidden 形状为 {1}，但模型读的是 {2} 个数",
    "mem_len in {0} is {1}, but {2} inputs went in": "{0} 中的 mem_len 是 {1}，但输入有 {2} 个",
    "{0} has scores of shape {1}, but {2} inputs, {3} heads and a batch of {4} need [batch head query key] in some "
    "order, with {5} keys": (
        "{0} 的得分形状为 {1}，但 {2} 个输入、{3} 个头、批次 {4} 需要某种顺序的 [batch head query key]，共 {5} 个键"
    ),
    "{0} has shape {1}, but [batch head query key] is {2}": "{0} 的形状为 {1}，但 [batch head query key] 是 {2}",
    "is {0}, but {1}: {2}": "是{0}，而{1}：{2}",
    "holds {0}": "里是 {0}",
    "--mem-len {0}: with a mask give the memory of each layer as `mems`": (
        "--mem-len {0}：有掩码时，请用 `mems` 给出每层的记忆"
    ),
}
