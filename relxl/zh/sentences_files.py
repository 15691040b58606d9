"""Chinese texts of what is wrong with a file."""

TEXTS = {
    "a sinusoid needs an even number of dimensions, got {0}": "正弦需要偶数维，得到 {0}",
    "the table has rows for the distances {0} to {1}, but {2} to {3} are asked for: give a shorter input, or clamp "
    "the distances": "表有距离 {0} 到 {1} 的行，但要用到 {2} 到 {3}：请给更短的输入，或截断距离",
    "{0} queries and {1} keys were given, but in cross attention {2} has places for no more queries than keys: give "
    "as many keys, or fewer queries": (
        "给了 {0} 个查询和 {1} 个键，但在交叉注意力里，{2} 的查询位置不多于键：请给同样多的键，或减少查询"
    ),
    "every token needs another one to change to: tokens {0} and changed_to {1} must be [token], or [token d_model], "
    "and differ everywhere": (
        "每个 token 都需要另一个可换成的 token：tokens {0} 和 changed_to {1} 必须是 [token] 或 [token d_model]，且处"
        "处不同"
    ),
    "the model gives different outputs for the same tokens: switch dropout off (model.eval()) and fix what is "
    "random, then test again": (
        "同样的 token，模型给出的输出却不同：关掉 dropout（model.eval()），固定一切随机性，再测一次"
    ),
    "the weights hold {0} numbers, but config.json asks for {1}: they differ, give the two files of one training run": (
        "权重里有 {0} 个数，config.json 要求 {1} 个：两者不符，请给同一次训练的两个文件"
    ),
    "the weights lack {0}{1}: they do not fit config.json": "权重缺少 {0}{1}：与 config.json 不符",
    "{0} is {1} {2}, but config.json needs floats {3}: give the two files of one training run": (
        "{0} 是 {1} {2}，而 config.json 要求浮点数 {3}：请给同一次训练的两个文件"
    ),
    "config.json has {0}, which relxl does not know: it knows {1}": (
        "config.json 里有 relxl 不认识的 {0}：它认识的是 {1}"
    ),
    "config.json lacks {0}: restore it from the training run": "config.json 缺少 {0}：请从训练那里恢复",
    "there is no vocab.json: a checkpoint needs config.json, model.safetensors and vocab.json": (
        "没有 vocab.json：检查点需要 config.json、model.safetensors 和 vocab.json"
    ),
    "{0} can not be read ({1}): restore it from the training run": "{0} 无法读取（{1}）：请从训练那里恢复",
    "{0} has {1} tokens{2} but the model has n_token={3}: the two files belong to different models": (
        "{0} 有 {1} 个 token{2}，而模型的 n_token={3}：两个文件属于不同的模型"
    ),
    "training.json is not JSON ({0}): restore or remove it": "training.json 不是 JSON（{0}）：请恢复或删除它",
    "training.json holds a JSON {0}, but an object was expected": "training.json 里是 JSON {0}，而应当是一个对象",
    "training.json: {0} is not what a training run writes: restore or remove the file": (
        "training.json：{0} 不是训练会写出的内容：请恢复或删除该文件"
    ),
    "step {0} has other sizes than step {1}, but the snapshots of one training were expected: keep each training in "
    "its own folder": "第 {0} 步与第 {1} 步的尺寸不同，而这里应是同一次训练的快照：请把每次训练放在各自的文件夹里",
    "this folder has no snapshot: train with --snapshots": "这个文件夹里没有快照：训练时请加 --snapshots",
    "{0} must be {1}, got {2}": "{0} 必须是{1}，得到 {2}",
    "positions must be one of {0}, got {1}": "positions 必须是 {0} 之一，得到 {1}",
    "clamp_len must be a whole number from 0, or absent, got {0}": "clamp_len 必须是不小于 0 的整数，或不给，得到 {0}",
    "d_model must be a multiple of n_head, got d_model={0} and n_head={1}": (
        "d_model 必须是 n_head 的倍数，得到 d_model={0}、n_head={1}"
    ),
    "a sinusoid needs an even d_model, got {0}": "正弦需要偶数的 d_model，得到 {0}",
    "dropout must be below 1, got {0}": "dropout 必须小于 1，得到 {0}",
    "is a damaged gzip file: download it again": "是损坏的 gzip 文件：请重新下载",
    "unfolds to more than {0} bytes, which weights do not: unpack it yourself if you know it": (
        "解压后超过 {0} 字节，权重不会这样：如果你了解它，请自行解压"
    ),
    "is a gzip file that ends too early, the download is incomplete: download it again": (
        "是提前结束的 gzip 文件，下载不完整：请重新下载"
    ),
    "is a damaged or incomplete tar: download it again": "是损坏或不完整的 tar：请重新下载",
    "is a tar with more than {0} members: it is no .nemo file": "是成员超过 {0} 个的 tar：不是 .nemo 文件",
    "is a tar with a member {0}, whose path leads out of it: do not unpack it": (
        "是含有成员 {0} 的 tar，其路径指向包外：不要解包"
    ),
    "is a tar with a member {0} that is a link or no plain file: do not unpack it": (
        "是含有成员 {0} 的 tar，那是链接或不是普通文件：不要解包"
    ),
    "is a tar whose members claim more bytes than it has: download it again": (
        "是一个成员声称的字节数比文件还多的 tar：请重新下载"
    ),
    "is a tar that ends too early, the download is incomplete: download it again": (
        "是提前结束的 tar，下载不完整：请重新下载"
    ),
    "was saved by a torch older than 0.1.10: save it again with a newer torch": (
        "是用 0.1.10 之前的 torch 保存的：请用新版 torch 重新保存"
    ),
    "is a tar with {0} members {1} (it has {2}), but a .nemo file has one: unpack it and open the folder": (
        "是含有 {0} 个成员 {1} 的 tar（其中有 {2}），而 .nemo 文件只有一个：请解包后打开文件夹"
    ),
    "has a YAML config of {0} bytes, but at most {1} are read": "的 YAML 配置有 {0} 字节，而最多读取 {1}",
    "has a YAML config that is not plain YAML: write it again without tags, or leave it out": (
        "的 YAML 配置不是普通的 YAML：请去掉标签重写，或者不要放它"
    ),
    "has a YAML config that is a {0}, but names and values were expected": "的 YAML 配置是 {0}，而应当是名字和值",
    "needs more memory than a file of its size may take: it is damaged or made to do harm, do not use it": (
        "需要的内存超出这么大的文件该用的：它已损坏，或是有意为害，不要使用"
    ),
    "can not be read, it is damaged or not what it seems: download or save it again": (
        "无法读取，它已损坏，或不是看上去的那种文件：请重新下载或保存"
    ),
    "is a tar whose weights are a {0} file, but torch's own format was expected": (
        "是一个 tar，权重是 {0} 文件，而应当是 torch 自己的格式"
    ),
    "has a state dict of {0} names, but at most {1} are read": "的 state dict 有 {0} 个名字，而最多读取 {1} 个",
    "{0} entries of the state dict are no tensors and were left out": "state dict 里有 {0} 项不是张量，已略去",
    "would unfold from {0} to {1} bytes, since its tensors share memory: do not use it": (
        "会从 {0} 字节膨胀到 {1} 字节，因为它的张量共用内存：不要使用"
    ),
    "{0} tensors are views of larger ones, of which only what they show was kept": (
        "{0} 个张量是更大张量的视图，只保留了它们所显示的部分"
    ),
    "is not a state dict, since it has a tensor under the key {0}, which is not a name": (
        "不是 state dict，因为键 {0} 下有一个张量，而它不是名字"
    ),
    "has the tensor {0} of shape {1}, which needs {2} bytes, but the file has {3} for it: save a contiguous copy": (
        "含有形状为 {1} 的张量 {0}，需要 {2} 字节，而文件里只有 {3}：请保存连续的副本"
    ),
    "has the tensor {0}, which is {1} dtype {2}, but relxl reads plain tensors of float64, float32, float16, "
    "bfloat16 and whole numbers: convert it and save it again": (
        "含有张量 {0}，它是 {1}类型 {2}，而 relxl 只读 float64、float32、float16、bfloat16 和整数的普通张量：请转换后"
        "重新保存"
    ),
    "has a config that is too long for a config of a model": "的配置太长，不像模型的配置",
    "a checkpoint folder has {0} or {1}, or shards with their index, or a single file of weights": (
        "检查点文件夹里应有 {0} 或 {1}，或者分片及其索引，或者单独一个权重文件"
    ),
    "has no {0}, which {1} asks for: download the missing files": "没有 {1} 所要求的 {0}：请下载缺少的文件",
    "has the tensor {0} in two shards, {1} is the second: download it again": (
        "在两个分片里都有张量 {0}，第二个是 {1}：请重新下载"
    ),
    "has more than {0} files, but {1}": "的文件超过 {0} 个，而{1}",
    "has {0} files with weights ({1}), but one was expected: give one": (
        "有 {0} 个权重文件（{1}），而应当只有一个：请给一个"
    ),
    "holds a TensorFlow checkpoint, but {0}: convert it with transformers first": (
        "里是 TensorFlow 检查点，而{0}：请先用 transformers 转换"
    ),
    "has no {0} and no other weights, but {1}": "里没有 {0}，也没有别的权重，而{1}",
    "{0} {1} beside {2} and {3} not read": "{2} 旁边的 {0} {1}{3}没有读取",
    "has no weight_map of 1 to {0} names: download it again": "没有 1 到 {0} 个名字的 weight_map：请重新下载",
    "gives {0} twice, in two shards perhaps: download it again": "把 {0} 给了两次，可能在两个分片里：请重新下载",
    "asks for {0}, which is not the plain name of a file in its folder: do not use it": (
        "要求 {0}，它不是同一文件夹里文件的普通名字：不要使用"
    ),
    "asks for {0}, but shards are .safetensors or .bin files: do not use it": (
        "要求 {0}，而分片是 .safetensors 或 .bin 文件：不要使用"
    ),
    "has {0} bytes of weights, but relxl opens at most {1}": "的权重有 {0} 字节，而 relxl 最多打开 {1}",
    "lacks {0}, which the index promises in it: download it again": "缺少索引声称在其中的 {0}：请重新下载",
    "is a link that leads out of its folder: put the file itself there": "是指向文件夹之外的链接：请把文件本身放进来",
    "is a folder, device or pipe, but a file was expected: do not use it": (
        "是文件夹、设备或管道，而应当是文件：不要使用"
    ),
    "has more than the {0} bytes that are read of such a file: take it out of the folder": (
        "超过这类文件读取上限的 {0} 字节：请把它移出文件夹"
    ),
    "the config was taken from {0}": "配置取自 {0}",
    "{0} has {1} twice, the last counts": "{0} 里 {1} 出现两次，以最后一次为准",
    "holds a JSON {0}, but an object was expected: restore it": "里是 JSON {0}，而应当是一个对象：请恢复它",
    "has more than the {0} bytes that are read of a config: give the config alone": (
        "超过配置读取上限的 {0} 字节：请只给配置"
    ),
    "{0}: the bytes of {1} and of the tensor before it {2}, {3}": "{0}：{1} 与它之前的张量，字节{2}，{3}",
    "{0}: it {1} ({2} bytes of tensors, the header says {3}), {4}": (
        "{0}：它{1}（张量有 {2} 字节，文件头说是 {3}），{4}"
    ),
    "{0}: its header would have {1} bytes, but at most {2} are read, {3}": (
        "{0}：它的文件头会有 {1} 字节，而最多读取 {2}，{3}"
    ),
    "{0}: it ends within its header, the download is incomplete, {1}": "{0}：它在文件头中间就结束了，下载不完整，{1}",
    "lists more than the {0} tensors that are read: it is no checkpoint of a model": (
        "列出的张量超过可读的 {0} 个：它不是模型的检查点"
    ),
    "{0}: its header is not JSON, {1}": "{0}：它的文件头不是 JSON，{1}",
    "{0}: its header is no JSON object, {1}": "{0}：它的文件头不是 JSON 对象，{1}",
    "lists {0} tensors, but at most {1} are read": "列出 {0} 个张量，而最多读取 {1} 个",
    "holds no tensors: save a state dict": "里没有张量：请保存 state dict",
    "{0}: {1} stands twice in its header, {2}": "{0}：{1} 在文件头里出现两次，{2}",
    "has a tensor named {0}, but names must be printable and of at most {1} bytes: rename it in the state dict": (
        "含有名为 {0} 的张量，而名字必须可打印且不超过 {1} 字节：请在 state dict 里改名"
    ),
    "{0}: the header's entry of {1} has not dtype, shape and data_offsets, {2}": (
        "{0}：文件头里 {1} 那一项没有 dtype、shape 和 data_offsets，{2}"
    ),
    "{0}: shape or data_offsets of {1} are no lists, {2}": "{0}：{1} 的 shape 或 data_offsets 不是列表，{2}",
    "has {0} with {1} dims, but at most {2} are read": "的 {0} 有 {1} 维，而最多读取 {2} 维",
    "{0}: shape {1} or byte range {2} of {3} is out of bounds, {4}": "{0}：{3} 的形状 {1} 或字节范围 {2} 越界，{4}",
    "{0}: {1} is {2} {3}, but its byte range has {4} bytes, {5}": "{0}：{1} 是 {2} {3}，而它的字节范围有 {4} 字节，{5}",
    "has the tensor {0} of dtype {1}, but relxl reads float64, float32, float16, bfloat16 and whole numbers: "
    "convert it and save it again": (
        "含有 dtype 为 {1} 的张量 {0}，而 relxl 读的是 float64、float32、float16、bfloat16 和整数：请转换后重新保存"
    ),
    "refers to something that is no storage of torch: it is damaged": "引用了并非 torch 存储的东西：它已损坏",
    "was saved on a big-endian machine: save it again as .safetensors there": (
        "是在大端机器上保存的：请在那台机器上另存为 .safetensors"
    ),
    "has no numbers {0}: the download is incomplete, download it again": "没有数据 {0}：下载不完整，请重新下载",
    "is no path: give the path of a file or folder": "不是路径：请给文件或文件夹的路径",
    "is {0} that calls {1} and holds no tensors: relxl runs nothing of it, delete it": (
        "是{0}，它调用 {1} 且不含张量：relxl 不运行其中任何东西，请删除它"
    ),
    "is a whole pickled module ({0}), and opening one runs code": "是整个被 pickle 的模块（{0}），打开它会运行代码",
    "has {0} inside, and opening that runs code": "里面有 {0}，打开它会运行代码",
    "{0}, but relxl opens state dicts, which are names and tensors: if you know where it comes from, take its "
    "tensors out with `python -m relxl convert --trust FILE`": (
        "{0}，而 relxl 打开的是 state dict，即名字和张量：如果你知道它的来历，可以用 `python -m relxl convert "
        "--trust FILE` 取出其中的张量"
    ),
    "is a bare pickle, which torch.save did not write: save the state dict with torch.save or safetensors": (
        "是裸 pickle，不是 torch.save 写的：请用 torch.save 或 safetensors 保存 state dict"
    ),
    "can not be read, it is incomplete, damaged or not what torch.save wrote: download or save it again": (
        "无法读取，它不完整、已损坏，或不是 torch.save 写的：请重新下载或保存"
    ),
    "has a config of more than {0} values: it is no config of a model": "的配置超过 {0} 个值：不是模型的配置",
    "{0} has too many values for a config and was left out": "{0} 的值太多，不像配置，已略去",
    "unwrapped from {0}": "从 {0} 中取出",
    "{0} holds tensors too and was not read": "{0} 里也有张量，没有读取",
    "holds a dict with {0}, and no tensors in it": "里是含有 {0} 的 dict，其中没有张量",
    "holds a dict without tensors": "里是没有张量的 dict",
    "{0}, so it is not a state dict, which is a dict of names and tensors: save model.state_dict() instead": (
        "{0}，所以它不是 state dict，即由名字和张量组成的 dict：请改存 model.state_dict()"
    ),
    "is not JSON ({0}): restore it": "不是 JSON（{0}）：请恢复它",
    "{0} is not there: give the path of a file or folder": "{0} 不存在：请给文件或文件夹的路径",
    "{0} can not be read ({1}): check that you may read it": "{0} 无法读取（{1}）：请检查你是否有权读取",
    "is a device, pipe or socket, but a file or folder was expected": "是设备、管道或套接字，而应当是文件或文件夹",
    "has {0} bytes, but relxl opens at most {1}: use a smaller model": (
        "有 {0} 字节，而 relxl 最多打开 {1}：请用更小的模型"
    ),
    "has a name that ends in .safetensors, but its bytes are {0}, which is not what its name promises: download it "
    "again, or rename it if you know what it is": (
        "的名字以 .safetensors 结尾，但它的字节是{0}，名不副实：请重新下载；如果你知道它是什么，也可以改名"
    ),
    "became shorter while it was read: open it again when it is written": "在读取过程中变短了：写完之后再打开",
    "is a damaged safetensors file: download or save it again": "是损坏的 safetensors 文件：请重新下载或保存",
    "has the tensor {0} of dtype bool with bytes other than 0 and 1: save it again": (
        "含有 bool 型张量 {0}，其字节有 0 和 1 以外的值：请重新保存"
    ),
    "the prefix {0} was removed from all names": "所有名字都去掉了前缀 {0}",
    "can not be opened now, since the process that reads such files did not start: try again": (
        "现在无法打开，因为读取这类文件的进程没有启动：请重试"
    ),
    "took too long to read{0}": "读取时间太长{0}",
    "would unfold to more bytes than a file of its size may: it is damaged or made to do harm, do not use it": (
        "膨胀后的字节数超出这么大的文件该有的：它已损坏，或是有意为害，不要使用"
    ),
    "can not be read, since its contents are not what they seem: do not use it": (
        "无法读取，因为它的内容不是看上去的那样：不要使用"
    ),
    "can not be read, the process that read it {0}: it is damaged or made to do harm, do not use it": (
        "无法读取，读取它的进程{0}：它已损坏，或是有意为害，不要使用"
    ),
    "relxl opens .safetensors files, state dicts that torch.save wrote, .nemo files and folders with one of these": (
        "relxl 打开 .safetensors 文件、torch.save 写的 state dict、.nemo 文件，以及含有其一的文件夹"
    ),
    "is empty: download or save it again": "是空的：请重新下载或保存",
    "is the index of a TensorFlow checkpoint, but {0}: convert it with transformers first": (
        "是 TensorFlow 检查点的索引，而{0}：请先用 transformers 转换"
    ),
    "is an ONNX file, but {0}: open the checkpoint that it was exported from": (
        "是 ONNX 文件，而{0}：请打开导出它的那个检查点"
    ),
    "begins with the bytes {0}, which relxl does not know, but {1}": "以字节 {0} 开头，relxl 不认识，而{1}",
    "is a git-lfs pointer, a short text that stands for the real file: get the real file with `git lfs pull`": (
        "是 git-lfs 指针，即代替真实文件的一小段文本：请用 `git lfs pull` 取得真实文件"
    ),
    "is a web page, probably an error message in place of the download: download the file again": (
        "是网页，多半是代替下载内容的报错：请重新下载文件"
    ),
    "is JSON text, but {0}: give the weights or the folder that both lie in": (
        "是 JSON 文本，而{0}：请给权重，或给放着两者的文件夹"
    ),
    "is a text file, but {0}: give the file with the weights": "是文本文件，而{0}：请给含有权重的文件",
    "is damaged or made to do harm: {0}": "已损坏，或是有意为害：{0}",
    "is not JSON ({0}): {1}": "不是 JSON（{0}）：{1}",
    "holds {0}, but an object with a model (as tokenizers saves it) was expected: {1}": (
        "里是{0}，而应当是含有 model 的对象（tokenizers 保存的样子）：{1}"
    ),
    "has a {0} of {1} parts, but at most {2} are read: {3}": "的 {0} 有 {1} 个部分，而最多读取 {2} 个：{3}",
    "has a {0} {1}, but the known types are {2}: {3}": "的 {0} {1}，而已知的类型是 {2}：{3}",
    "has a {0} with a Sequence that has no list, or {1} others around it: {2}": (
        "的 {0} 里有一个 Sequence 没有列表，或外面套了 {1} 层：{2}"
    ),
    "has a {0} with a pattern of more than {1} characters: {2}": "的 {0} 的模式超过 {1} 个字符：{2}",
    "has a {0} {1} whose {2} is no number or short text: {3}": "的 {0} {1}，其 {2} 不是数字或短文本：{3}",
    "has a model of the type {0}, but the known types are {1}: {2}": "的模型类型是 {0}，而已知的类型是 {1}：{2}",
    "has a model whose {0} is {1}: {2}": "的模型，其 {0} 是{1}：{2}",
    "has a model whose merges are no list of pairs of texts: {0}": "的模型，其 merges 不是文本对的列表：{0}",
    "has a Unigram model whose vocab is no list of pieces, each with a score: {0}": (
        "的 Unigram 模型，其 vocab 不是带分数的片段列表：{0}"
    ),
    "has a {0} model whose vocab does not give every piece a whole number from 0: {1}": (
        "的 {0} 模型，其 vocab 没有给每个片段一个从 0 开始的整数：{1}"
    ),
    "gives the id {0} to {1} and to {2}: {3}": "把编号 {0} 给了 {1} 和 {2}：{3}",
    "has a {0} model without a single piece: {1}": "的 {0} 模型一个片段也没有：{1}",
    "has added_tokens that are {0}, but a list was expected: {1}": "的 added_tokens 是{0}，而应当是列表：{1}",
    "has an added token that is not an id from 0 with a text: {0}": "的某个附加 token 没有从 0 开始的编号和文本：{0}",
    "gives {0} the id {1}, but the model has n_token={2}, so that ids end at {3}: the two files belong to different "
    "models": "给 {0} 的编号是 {1}，而模型的 n_token={2}，编号到 {3} 为止：两个文件属于不同的模型",
    "has a piece of {0} characters, but at most {1} are read: {2}": "有一个 {0} 个字符的片段，而最多读取 {1} 个：{2}",
    "gives wrong ids to added tokens ({0} follows from the rest of it): {1}": (
        "给附加 token 的编号有误（按其余部分应为 {0}）：{1}"
    ),
    "needs more memory than a tokenizer may take: {0}": "需要的内存超出分词器该用的：{0}",
    "is not understood by the library that reads it, which says {0}: {1}": "读取它的库无法理解它，说 {0}：{1}",
    "makes the library that reads it break off, so it {0}": "使读取它的库中断，所以它{0}",
    "has {0} bytes of pieces, but at most {1} are read: {2}": "的片段有 {0} 字节，而最多读取 {1}：{2}",
    "has no token for what is unknown, and the text has a character it does not know": (
        "没有表示未知的 token，而文本里有它不认识的字符"
    ),
    "makes {0} tokens of the text, but at most {1} are read: shorten it": (
        "把文本切成 {0} 个 token，而最多读取 {1} 个：请缩短文本"
    ),
    "makes a text of {0} bytes of the ids, but at most {1} are read": "由编号生成 {0} 字节的文本，而最多读取 {1}",
    "is a zip whose table of contents contradicts itself: download it again": "是目录自相矛盾的 zip：请重新下载",
    "is a damaged zip: download it again": "是损坏的 zip：请重新下载",
    "is a zip with more than {0} members: it is no checkpoint of a model": "是成员超过 {0} 个的 zip：不是模型的检查点",
    "is a zip with two members {0}: torch.save never writes that": "是有两个成员都叫 {0} 的 zip：torch.save 从不这样写",
    "is a zip that ends too early, the download is incomplete: download it again": (
        "是提前结束的 zip，下载不完整：请重新下载"
    ),
    "is a zip with other bytes behind its end, which torch.save never writes: download it again": (
        "是末尾之后还有别的字节的 zip，torch.save 从不这样写：请重新下载"
    ),
}
