"""Chinese texts of what stands inside other sentences as their values."""

TEXTS = {
    "probs.{layer} or logits.{layer}, and what went in: tokens [batch key] or hidden [batch key d_model] (memory "
    "included, its length is what the queries leave, or mem_len)": (
        "probs.{layer} 或 logits.{layer}，以及输入：tokens [batch key] 或 hidden [batch key d_model]（含记忆，其长度"
        "为扣除查询后余下的部分，或由 mem_len 给出）"
    ),
    "the reference": "参考运行",
    "also in layers": "还出现在这些层",
    "the u and v of L0 in every layer": "每一层都用 L0 的 u 和 v",
    "without sqrt(d_model)": "不乘 sqrt(d_model)",
    "with sqrt(d_model) twice": "乘两次 sqrt(d_model)",
    "the embedding {0}": "嵌入{0}",
    "u and v left unscaled": "不缩放的 u 和 v",
    "the scale 1/sqrt(d_model)": "缩放 1/sqrt(d_model)",
    "a scale larger by sqrt(n_head)": "大 sqrt(n_head) 倍的缩放",
    "no scale at all": "完全不缩放",
    "the scale applied twice": "缩放两次",
    "distances counted the other way, j - i": "反方向计的距离 j - i",
    "sines and cosines in halves that were taken for interleaved": "把分成两半的正弦和余弦当作交错",
    "sines and cosines interleaved that were taken for halves": "把交错的正弦和余弦当作两半",
    "the sign of the distance {0}": "距离的符号 {0}",
    "the {0} projection transposed": "转置的 {0} 投影",
    "u and v of zeros": "全零的 u 和 v",
    "no position term": "去掉位置项",
    "the shift `{0}` of {1}": "{1} 的移位 `{0}`",
    "distances that forget the memory, i - j": "漏算记忆的距离 i - j",
    "the right shift, memory + i - j": "正确的移位 memory + i - j",
    "no clamp": "不截断",
    "distances clamped at {0}": "在 {0} 处截断的距离",
    "a memory of {0}": "{0} 的记忆",
    "the right mask, -inf after the sum": "正确的掩码，求和之后填 -inf",
    "a mask that shows both sides": "两边都看的掩码",
    "a causal mask": "因果掩码",
    "the mask fault {0}": "掩码错误 {0}",
    "a mask laid {0}": "{0}加的掩码",
    "before the sum": "求和之前",
    "before the shift": "移位之前",
    "no window": "没有窗口",
    "a window of {0} keys": "{0} 个键的窗口",
    "the mask laid before the other terms, by multiplying": "加其他项之前用乘法加掩码",
    "the mask laid before the shift": "移位之前加掩码",
    "a mask one key too wide": "掩码多放了一个键",
    "no mask": "没有掩码",
    "a fill of 1e-9": "填充值 1e-9",
    "largest difference left": "剩余的最大差",
    "without memory they have little to go by.": "没有记忆，它们几乎无所依据。",
    "after the sum": "求和之后",
    "the mask is one key too wide": "掩码多放了一个键",
    "a query does not see itself": "查询看不到自己",
    "the mask forgets the memory, i - j >= 0 where m + i - j is meant": (
        "掩码漏算了记忆，该用 m + i - j >= 0 的地方用了 i - j >= 0"
    ),
    "the mask is upside down": "掩码上下颠倒",
    "there is no mask": "没有掩码",
    "the window is one key short": "窗口少一个键",
    "the mask is laid before the shift, which moves it": "掩码加在移位之前，被移位挪走了",
    "the fill is too weak": "填充值太弱",
    "the fill is put in before all terms are added": "在所有项相加之前就填了",
    "the open cells are no mask that is known": "开放的格子不符合任何已知的掩码",
    "0 for every key": "每个键都是 0",
    "the same for every key": "每个键都相同",
    "NaN, and so is all that reads them": "NaN，读它的一切也都是 NaN",
    "as if nothing were masked": "就像什么都没遮住",
    "That is mem_len: the oldest slot of a full memory is never read.": (
        "这就是 mem_len：满的记忆里最老的槽永远没人读。"
    ),
    "That is mem_len + 1, as in TF and NVIDIA's code.": "这是 mem_len + 1，TF 和 NVIDIA 的代码就是如此。",
    "That is neither mem_len nor mem_len + 1.": "这既不是 mem_len，也不是 mem_len + 1。",
    "left, in units of the tolerance": "剩余差，以容差为单位",
    "factors of the terms": "各项的系数",
    "reads hidden states": "读取隐藏状态",
    "query, key, reads row, distance": "查询, 键, 读到的行, 距离",
    "the map is `{0}`, as in {1}": "映射是 `{0}`，见于 {1}",
    ", and {0} cells read what is left over of another row": "，{0} 个格子读的是另一行的残余",
    "distances are off by {0}{1}": "距离偏差为 {0}{1}",
    "{0} read another query's row, {1} another distance": "{0} 个读了另一个查询的行，{1} 个读了另一个距离",
    "normal of std 0.02": "标准差 0.02 的正态分布",
    "Xavier normal": "Xavier 正态分布",
    "Xavier uniform": "Xavier 均匀分布",
    "uniform of torch.nn.Linear": "torch.nn.Linear 的均匀分布",
    "normal of std 1/sqrt(fan_in)": "标准差 1/sqrt(fan_in) 的正态分布",
    "He normal": "He 正态分布",
    "normal of std 1": "标准差 1 的正态分布",
    "relxl's own language model": "relxl 自己的语言模型",
    "the file": "文件",
    'config.json says "family": "relxl"': 'config.json 写着 "family": "relxl"',
    ", {0} of them blank lines,": "（其中 {0} 个是空行）",
    "a whole number from {0} to {1}": "从 {0} 到 {1} 的整数",
    "a finite number, 0 or more": "不小于 0 的有限数",
    "a {0} tensor of": "{0} 张量，",
    "download or save it again": "请重新下载或保存",
    "ends too early": "提前结束",
    "has other bytes behind its end": "在末尾之后还有别的字节",
    "a bare pickle": "裸 pickle",
    "a zip as torch.save writes it": "torch.save 写的 zip",
    "a file as an old torch.save wrote it": "旧版 torch.save 写的文件",
    ", longer than any good file of its size: it is damaged or made to do harm, do not use it": (
        "，比同样大小的正常文件都久：它已损坏，或是有意为害，不要使用"
    ),
    "was ended by {0}": "被 {0} 终止",
    "broke off": "中断了",
    "load it there and save the weights as .safetensors": "请在原处载入，再把权重存成 .safetensors",
    "a GGUF file (llama.cpp)": "GGUF 文件（llama.cpp）",
    "open the checkpoint that it was made from": "请打开制作它的那个检查点",
    "a NumPy array": "NumPy 数组",
    "save all weights by name as .safetensors": "请把全部权重按名字存成 .safetensors",
    "a compressed file": "压缩文件",
    "unpack it first": "请先解压",
    "an xz file": "xz 文件",
    "a zstd file": "zstd 文件",
    "a RAR file": "RAR 文件",
    "download it again, or take it out of the folder and type token ids": (
        "请重新下载，或把它移出文件夹，改为输入 token 编号"
    ),
    "an object without a model": "没有 model 的对象",
    "of the type {0}": "类型为 {0}",
    "that is {0}": "为 {0}",
    "token ids": "token 编号",
    "the layer inputs": "层输入",
    "there is none": "一个也没有",
    "the article's RelMultiheadAttention": "文中的 RelMultiheadAttention",
    "linear_pos, pos_bias_u and pos_bias_v: an attention module, and nothing that tells whose": (
        "linear_pos、pos_bias_u 和 pos_bias_v：是注意力模块，但看不出是谁的"
    ),
    "ESPnet, Conformer and its relatives": "ESPnet，Conformer 及其同类",
    "the choice": "所选的值",
    "the config": "配置",
    "a list of rising whole numbers": "递增整数的列表",
    "one of {0}": "{0} 之一",
    "true or false": "true 或 false",
    "a number above 0 and below 1": "大于 0 且小于 1 的数",
    "is not there": "不存在",
    "has shape {0}": "的形状为 {0}",
    "dec_attn.qkv_net, dec_attn.r_net, r_w_bias and r_r_bias under every layers.{i}": (
        "每个 layers.{i} 下的 dec_attn.qkv_net、dec_attn.r_net、r_w_bias 和 r_r_bias"
    ),
    "dec_attn.qkv_net and dec_attn.r_net, r_w_bias and r_r_bias beside the layers, crit. not among them": (
        "dec_attn.qkv_net 和 dec_attn.r_net，层外的 r_w_bias 和 r_r_bias，没有 crit."
    ),
    "Transformer-XL in Hugging Face transformers": "Hugging Face transformers 中的 Transformer-XL",
    "NVIDIA NeMo, Conformer and FastConformer": "NVIDIA NeMo，Conformer 和 FastConformer",
    "WeNet: it multiplies with the key's absolute position, since its shift was taken out": (
        "WeNet：它乘的是键的绝对位置，因为它的移位被去掉了"
    ),
    "Shaw-like relative_key attention: it has no u, no v and no W_kR, only q · a_d": (
        "Shaw 式的 relative_key 注意力：没有 u、v 和 W_kR，只有 q · a_d"
    ),
    "DeBERTa: its position terms are content-to-position and position-to-content, without u, v": (
        "DeBERTa：它的位置项是内容到位置和位置到内容，没有 u、v"
    ),
    "T5-like attention: a learned bias a distance is added and nothing else": (
        "T5 式的注意力：每个距离加一个学出来的偏置，此外没有别的"
    ),
    "Funnel Transformer: its queries are pooled, so a row does not stand for one distance": (
        "Funnel Transformer：它的查询经过池化，一行并不对应一个距离"
    ),
    "Parakeet in transformers: convert it back to NeMo's names, or open the .nemo file": (
        "transformers 中的 Parakeet：请转换回 NeMo 的名字，或打开 .nemo 文件"
    ),
    "icefall: its in_proj is scaled by a factor that its training keeps elsewhere": (
        "icefall：它的 in_proj 乘了一个系数，而训练把这个系数存在别处"
    ),
    "attention with linear_pos, and without pos_bias_u or projections beside it: a Zipformer, or a part of a file": (
        "有 linear_pos、旁边却没有 pos_bias_u 或投影的注意力：是 Zipformer，或文件的一部分"
    ),
    "Enformer: its positions are basis functions and not a sinusoid or a table": (
        "Enformer：它的位置是基函数，不是正弦或表"
    ),
    "RLlib's GTrXL, which this version does not read": "RLlib 的 GTrXL，这个版本还不读",
    "DI-engine's GTrXL, which this version does not read": "DI-engine 的 GTrXL，这个版本还不读",
    "lucidrains' memory transformer: it has no u and no v, only the terms (a) and (b)": (
        "lucidrains 的 memory transformer：没有 u 和 v，只有 (a) 和 (b) 两项"
    ),
    "Transformer-XL with absolute positions (attn_type 2 or 3): a score has no distance": (
        "用绝对位置的 Transformer-XL（attn_type 2 或 3）：得分里没有距离"
    ),
    "Music Transformer: it has no u and no v, only q · E_d": "Music Transformer：没有 u 和 v，只有 q · E_d",
    "sooftware/conformer: files from before and after its pull request 55 differ only in code": (
        "sooftware/conformer：它的 pull request 55 前后的文件只在代码上不同"
    ),
    "BERT-like attention: positions are added to the embeddings, a score has no distance": (
        "BERT 式的注意力：位置加在嵌入上，得分里没有距离"
    ),
    "GPT-2-like attention: positions are added to the embeddings, a score has no distance": (
        "GPT-2 式的注意力：位置加在嵌入上，得分里没有距离"
    ),
    "attention without relative positions of this kind (rotary or absolute)": (
        "没有这种相对位置的注意力（旋转或绝对位置）"
    ),
    "plain nn.MultiheadAttention, such as torchaudio's Conformer: it knows no distance": (
        "普通的 nn.MultiheadAttention，例如 torchaudio 的 Conformer：不知道距离"
    ),
    "speech attention without pos_bias_u and pos_bias_v: rotary, absolute or no positions": (
        "没有 pos_bias_u 和 pos_bias_v 的语音注意力：旋转、绝对或没有位置"
    ),
    "r_emb, r_bias and r_w_bias beside the layers: attn_type 1, learned positions": (
        "层外的 r_emb、r_bias 和 r_w_bias：attn_type 1，可学习的位置"
    ),
    "dec_attn.qkv_net and dec_attn.r_net, with r_w_bias and r_r_bias beside the layers: shared by all": (
        "dec_attn.qkv_net 和 dec_attn.r_net，层外的 r_w_bias 和 r_r_bias：各层共用"
    ),
    "Transformer-XL, the authors' PyTorch code": "Transformer-XL，作者的 PyTorch 代码",
    "Wav2Vec2-Conformer in Hugging Face transformers": "Hugging Face transformers 中的 Wav2Vec2-Conformer",
    "rel_attn.r_s_bias, rel_attn.seg_embed and three-dimensional rel_attn.q, k, v, o, r": (
        "rel_attn.r_s_bias、rel_attn.seg_embed，以及三维的 rel_attn.q、k、v、o、r"
    ),
    "XLNet in Hugging Face transformers": "Hugging Face transformers 中的 XLNet",
    "it is damaged or made to do harm, take it out of the folder and type token ids": (
        "它已损坏，或是有意为害，请把它移出文件夹，改为输入 token 编号"
    ),
    "give a shorter text, or take it out of the folder and type token ids": (
        "请给更短的文本，或把它移出文件夹，改为输入 token 编号"
    ),
    "take it out of the folder and type token ids": "请把它移出文件夹，改为输入 token 编号",
    "took longer than {0} s": "用时超过 {0} 秒",
    "broke off for want of memory or by a fault of the library that reads it": "因内存不足或读取它的库出错而中断",
    "gives no answer": "没有回答",
    "made the process that read it break off": "使读取它的进程中断",
    ", and {0} other words come more than once": "，另有 {0} 个词出现了不止一次",
    " in L{0} alone": "（仅 L{0}）",
    "line": "行",
    "place": "位置",
    "batch": "批次",
    "assumed": "假定",
    "begin": "开头",
    "both": "两者",
    "changes by": "变动",
    "correlation": "相关系数",
    "distances": "距离",
    "expected": "应为",
    "first": "最前面的",
    "first token off": "第一个不符的 token",
    "first tokens": "最前面的 token",
    "heads": "头",
    "largest error": "最大误差",
    "largest score": "最大得分",
    "layers": "层",
    "layout": "排列",
    "layouts": "排列",
    "least visible": "可见的最小值",
    "limit": "界限",
    "longest": "最长",
    "losses": "损失",
    "margin": "余量",
    "mass": "注意力",
    "mechanism": "机制",
    "moved": "变动",
    "needed rows": "需要的行数",
    "outputs": "输出数",
    "peak": "峰值",
    "recorded mask": "记录的掩码",
    "rest": "其余",
    "rows": "行",
    "share": "占比",
    "tensors": "张量",
    "tokens": "token",
    "tokens off": "不符的 token 数",
    "used": "用到的",
    "vector": "向量",
    "window": "窗口",
    "stage {0}": "阶段 {0}",
    "{0} and {1} more": "{0} 等（另有 {1} 个）",
    "a blank {0}": "空白的{0}",
    "sharded {0}": "分片的 {0}",
    "leave a hole": "之间有空洞",
    "overlap": "重叠",
    "a pickle": "pickle",
    "nothing (None)": "空（None）",
    "a tar": "tar",
    "a 7z file": "7z 文件",
    "an HDF5 file (Keras)": "HDF5 文件（Keras）",
    "a bzip2 file": "bzip2 文件",
    "W_kR transposed": "转置的 W_kR",
    "u and v swapped": "互换的 u 和 v",
    "knows 0 to {0}": "认识 0 到 {0}",
    "{0} came": "得到 {0}",
    "{0} beside linear_pos, pos_bias_u and pos_bias_v": "{0}，旁边有 linear_pos、pos_bias_u 和 pos_bias_v",
    "w_q, w_k, w_v, w_k_pos, u and v": "w_q、w_k、w_v、w_k_pos、u 和 v",
    "key_pos_embeddings, key_pos_bias and query_pos_bias": "key_pos_embeddings、key_pos_bias 和 query_pos_bias",
    "labml, annotated Transformer-XL": "labml，带注释的 Transformer-XL",
}
