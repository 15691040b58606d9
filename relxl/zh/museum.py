"""Chinese texts of the page "Bug museum"."""

TEXTS = {
    "Bug museum": "故障博物馆",
    "What goes wrong in the wild?": "现实中会出什么错？",
    "Failures that were reported in public, played on this head: broken at the left, right beside it, and the "
    "difference. The switch repairs it; below, a model to find the fault in.": (
        "公开报告过的故障，在这个头上重演：左边是出错的，旁边是正确的，再就是两者之差。开关可以把它修好；下面还有一个"
        "模型，等你找出其中的故障。"
    ),
    # the gallery
    "Room": "展室",
    "Exhibit": "展品",
    "State": "状态",
    "broken": "出错",
    "repaired": "修好",
    "This exhibit needs {what}, and no bundled model has it here: run `make train`.": (
        "这件展品需要{what}，而这里没有自带的模型能满足：请运行 `make train`。"
    ),
    "This exhibit needs {what}, which is not on screen: showing {name}.": (
        "这件展品需要{what}，屏幕上没有：改用 {name}。"
    ),
    "Repaired: the largest difference in a cell is **{largest}**.": "修好了：格子之间最大的差是 **{largest}**。",
    "{moved} of the attention goes to other keys.": "{moved} 的注意力去了别的键。",
    "what position adds, (b) + (d)": "位置的贡献，(b) + (d)",
    ": ": "：",
    "What goes wrong": "错在哪里",
    "What happened in the wild": "现实中发生过什么",
    "Repair and detection": "修复与发现",
    "Read in the code of {source}; nobody reported it.": "见于 {source} 的代码；没有人报告过。",
    "With a captured run the doctor finds it as {checks}.": "有捕获的运行时，诊断会把它报为 {checks}。",
    "The doctor finds it as {checks}.": "诊断会把它报为 {checks}。",
    "Entry {entry} of docs/doctor.md.": "见 docs/doctor.md 的 {entry}。",
    "See it on {page}": "到“{page}”页去看",
    "An exhibit takes the first {queries} queries of the segment and the {memory} keys before them, sets a scene (an "
    "encoder that sees both sides, a padded query, a memory of zeros) and plays it twice, right and broken. Both times "
    "`relxl.split.attention_terms` splits the scores; what is broken is a shift of `relxl.shift`, a `MaskRule`, a "
    "reading of the positions or a tensor. The numbers come from `relxl.museum`.": (
        "一件展品取片段开头的 {queries} 个查询和它们之前的 {memory} 个键，布置一个场景（两边都看的编码器、被 padding 的"
        "查询、全零的记忆），然后演两遍：一遍正确，一遍出错。两遍都由 `relxl.split.attention_terms` 拆分得分；出错的是 "
        "`relxl.shift` 里的某种移位、一条 `MaskRule`、位置的某种读法，或某个张量。数字来自 `relxl.museum`。"
    ),
    "Shift and table": "移位与位置表",
    "Masks": "掩码",
    "Biases and scale": "偏置与缩放",
    "Precision": "精度",
    "Files": "文件",
    "positions that are read by m + i − j": "按 m + i − j 读取的位置",
    "a sinusoid": "正弦位置编码",
    "rows for distances of the future": "属于未来那些距离的行",
    "a v by itself": "单独的 v",
    "u and v that differ from layer to layer": "各层不同的 u 和 v",
    "a square query projection": "方阵的查询投影",
    # shift and table
    "Wrapped-around cells": "绕回来的格子",
    "Pad and view needs a row of the table for every distance that is seen. An encoder sees the future too; with T "
    "rows it finds there what is left over of the next query’s row.": (
        "先补零再重排，这种移位要求每个看得到的距离在表里都有一行。编码器连未来也看；只有 T 行时，它在那里读到的是"
        "下一个查询那一行的残余。"
    ),
    "Speech encoders copied the shift of a language model, whose mask had hidden these cells. Training runs, nothing "
    "is reported, accuracy is somewhat lower.": (
        "语音编码器照搬了语言模型的移位，而在语言模型里这些格子一直被掩码遮着。训练照常进行，没有任何报错，只是准确率略"
        "低一些。"
    ),
    "A table of 2T − 1 rows, or a causal mask.": "用 2T − 1 行的表，或者加上因果掩码。",
    "**{foreign} of {cells} cells** read a position that is not theirs.": (
        "**{cells} 个格子中有 {foreign} 个**读到了不属于自己的位置。"
    ),
    "Same names, another class": "名字相同，类却不同",
    "An old position class reads the last rows of one reversed table of 5,000, the repaired one counts from the "
    "query. Their parameters have the same names and shapes, so a file fits either.": (
        "旧的位置类读取一张 5,000 行的倒序表的末尾几行，修复后的类从查询数起。两者的参数名字和形状都相同，所以一个文件"
        "装进哪个都行。"
    ),
    "After an update of the toolkit old models did worse, without any warning. The class became a setting, and where "
    "it is missing the old one is meant.": (
        "工具包更新之后，旧模型变差了，却没有任何警告。后来这个类成了一个设置项，没有写时指的是旧的那个。"
    ),
    "Ask which class a file was trained with; the tensors can not tell.": (
        "问清文件是用哪个类训练的；单看张量是看不出的。"
    ),
    "With {n} keys a query reads itself at distance **{row}**, and with one key more at {longer}: the same pair of "
    "tokens gets another vector in every text.": (
        "有 {n} 个键时，查询读自己用的距离是 **{row}**，多一个键就成了 {longer}：同一对 token 在每段文本里得到的向量都"
        "不一样。"
    ),
    "The shift taken out": "移位被去掉",
    "Row p of the table meets key p, whoever asks. The term now says where a key stands and not how far away it is: "
    "stripes down in the place of diagonals.": (
        "不管谁来问，表的第 p 行总是对上第 p 个键。这一项说的不再是键有多远，而是它在哪里：本该是斜线，却成了竖条。"
    ),
    "The call was commented out as useless for speech, and everything kept running. Somebody who put real relative "
    "positions back gained about one per cent.": (
        "这一步调用被当作对语音无用而注释掉了，一切照常运行。有人把真正的相对位置加回去，提高了大约百分之一。"
    ),
    "Put the shift back, and give it a table that goes with it.": "把移位加回来，并配上与它相应的表。",
    "The index of the key explains **{by_key}** of (d) v_bias, the distance {by_distance}; in the right picture the "
    "distance explains all of it.": (
        "(d) v_bias 的变化有 **{by_key}** 由键的序号解释，由距离解释的是 {by_distance}；在正确的图里，距离可以解释全"
        "部。"
    ),
    "A shift makes distances only of a table that descends. With the rows 0, 1, 2, … near and far are exchanged, and "
    "each query reads another stretch of the table.": (
        "只有表是降序的，移位才能得出距离。如果行是 0、1、2、…，远近就对调了，而且每个查询读的是表的不同一段。"
    ),
    "People ask why the original counts down, turn it round, and the head that should look one token back looks at "
    "the far end.": ("有人问原版为什么倒着数，于是把它反过来，结果本该看前一个 token 的头去看最远的那一端了。"),
    "A table from m + q − 1 downwards.": "表从 m + q − 1 往下数。",
    "The last query reads itself at distance **{own}** and the first key at {first}; right is 0 for itself and {far} "
    "for the first key.": (
        "最后一个查询读自己用的距离是 **{own}**，读第一个键用的是 {first}；正确的是自己为 0，第一个键为 {far}。"
    ),
    "j − i where i − j is meant: distance d reads the row of −d. The index matrix is only transposed, but the scores "
    "are not: what was past is read as future.": (
        "该用 i − j 却用了 j − i：距离 d 读的是 −d 的行。下标矩阵不过是转置，得分却不是：过去被当成了未来来读。"
    ),
    "Gathering and transposing each turn the sign once; a port that does one of the two differs everywhere off the "
    "diagonal, and the model is only a little worse.": (
        "gather 和转置各使符号翻转一次；移植时只做了其中一步，对角线以外就处处不同，而模型只是略差一点。"
    ),
    "Count as m + i − j: positive is the past.": "按 m + i − j 计：正数是过去。",
    "The distance that (d) v_bias likes best was {right} and is now **{wrong}**.": (
        "(d) v_bias 最喜欢的距离本来是 {right}，现在是 **{wrong}**。"
    ),
    "Sign of the distance lost": "丢了距离的正负号",
    "The future half of the table is filled with sin(+p) instead of sin(−p). The cosines hide half of the error, but "
    "rows +d and −d are now one, and left can not be told from right.": (
        "表里属于未来的一半填的是 sin(+p)，而不是 sin(−p)。余弦掩盖了一半的错误，但 +d 和 −d 两行成了同一行，左右再也分"
        "不清。"
    ),
    "Found in a toolkit for speech: with a constant input a non-causal row is symmetric around its query.": (
        "见于一个语音工具包：输入恒定时，非因果的一行以查询为中心左右对称。"
    ),
    "Fill the future half with sin(−p).": "未来的一半用 sin(−p) 填。",
    "The rows of +d and −d differ by at most **{apart_wrong}** in this head; right are differences up to "
    "{apart_right}.": "在这个头里，+d 与 −d 的行至多相差 **{apart_wrong}**；正确时最多相差 {apart_right}。",
    "Memory forgotten in the distance": "距离里漏算记忆",
    "i − j where m + i − j is meant. Without memory nothing is wrong, which is how it is tested; with m keys of memory "
    "every distance is m too small.": (
        "该用 m + i − j 却用了 i − j。没有记忆时毫无问题，而测试往往就是这么做的；有 m 个键的记忆时，每个距离都小了 m。"
    ),
    "A library’s position bias did so, and so do streaming encoders that do not count their cache: fine at the first "
    "chunk, worse from the second on.": (
        "某个库的位置偏置就是这样，不把缓存算进去的流式编码器也是：第一块没问题，从第二块起变差。"
    ),
    "Count from the first key of the memory: m + i − j. Test with q ≠ k.": (
        "从记忆的第一个键数起：m + i − j。测试时要让 q ≠ k。"
    ),
    "A query reads itself at distance **{own}** and not at 0, and {ahead} of {cells} visible cells read a distance of "
    "the future.": (
        "查询读自己用的距离是 **{own}** 而不是 0，{cells} 个可见的格子里有 {ahead} 个读到了属于未来的距离。"
    ),
    "Table too short": "位置表太短",
    "The table is made once, for a length. What lies beyond it is an error in one implementation and the last row over "
    "and over in another; a third slices from a negative start and reads other rows.": (
        "表按某个长度只做一次。超出部分，有的实现报错，有的反复读最后一行；还有的从负的起点切片，读到了别的行。"
    ),
    "Long audio ends in an assertion, or in a wrong text without one.": (
        "长音频要么触发断言，要么没有断言却得到错误的文本。"
    ),
    "Make the table for the input that is there, and never slice from a negative start.": (
        "按实际输入的长度来做表，绝不要从负的起点切片。"
    ),
    "**{beyond} of {cells}** visible cells lie beyond distance {reach}, where this table ends, and all of them read "
    "its last row.": (
        "可见的格子 **{cells} 个中有 {beyond} 个**超出了距离 {reach}，这张表到此为止，它们读的全是最后一行。"
    ),
    "clamp_len lost": "丢了 clamp_len",
    "Suppose a training that clamped distances at {reach}: all farther ones shared a row. Evaluated without the clamp, "
    "they read rows that this training never used.": (
        "假设训练时距离在 {reach} 处截断：更远的都共用一行。评估时没有截断，它们就会去读这次训练从没用过的行。"
    ),
    "The evaluation settings of the original are in its scripts alone, and a checkpoint does not have them.": (
        "原版的评估设置只写在脚本里，检查点里没有。"
    ),
    "Keep clamp_len with the weights, and set it at evaluation.": "把 clamp_len 与权重存在一起，评估时设上。",
    "**{beyond} of {cells}** visible cells read a row that such a training never used.": (
        "可见的格子 **{cells} 个中有 {beyond} 个**读了这样的训练从没用过的行。"
    ),
    "Sines and cosines in another order": "正弦余弦换了次序",
    "All sines and then all cosines here, sine, cosine, sine, cosine there. For a model that is trained with it the "
    "order does not matter; for weights that are ported W_kR meets the wrong rows.": (
        "这里先是全部正弦再是全部余弦，那里是正弦、余弦、正弦、余弦交错。用哪种次序训练都无所谓；可是权重一旦移植，"
        "W_kR "
        "遇到的就是错的行。"
    ),
    "Asked again and again about the original, and answered rightly: it is the same, until one ports.": (
        "人们一再就原版提出这个问题，回答也没错：两者一样，直到要移植为止。"
    ),
    "Put the rows of W_kR in the order of the table, or the table in theirs.": (
        "把 W_kR 的行排成表的次序，或者把表排成它的次序。"
    ),
    "The positional scores of the visible cells correlate by **{correlation}** with the right ones.": (
        "可见格子的位置得分与正确值的相关系数是 **{correlation}**。"
    ),
    # spot the bug
    "Spot the bug": "找出故障",
    "Mystery {n}": "谜题 {n}",
    "The models that the faults are planted in are not here: run `make train`.": (
        "用来植入故障的模型不在这里：请运行 `make train`。"
    ),
    "**Mystery {n}** is a small trained model, in which one thing is wrong, or nothing. Open it and look at it on any "
    "page, then come back and say what it is. The page Doctor names it too: try without it first.": (
        "**谜题 {n}** 是一个训练好的小模型，里面有一处错误，也可能没有。打开它，在任何页面上查看，然后回来说出错在哪"
        "里。"
        "“诊断”页也会说出答案：请先不靠它试一试。"
    ),
    "A class that plays the same seeds plays the same models. The link has the seed.": (
        "全班用同样的种子，面对的就是同样的模型。链接里带有种子。"
    ),
    "Next mystery": "下一个谜题",
    "Open Mystery {n}": "打开谜题 {n}",
    "It is the model on screen now, on every page. Good places to look:": "现在每个页面上看的都是它。可以去看看：",
    "This round: {right} of {done} answered rightly, {n} in all.": "本轮：答了 {done} 题，对 {right} 题，共 {n} 题。",
    "What the doctor says": "诊断怎么说",
    "The recorded sample loses **{found}** nats a token; recorded were {recorded}.": (
        "记录的样本现在的损失是每个 token **{found}** nat；当时记录的是 {recorded}。"
    ),
    "Nothing is wrong": "没有错",
    "No tensor and no setting was changed.": "没有改动任何张量或设置。",
    "u and v are swapped": "u 和 v 对调了",
    "In every layer u stands where v belongs, and v where u does.": "每一层里，u 都在 v 的位置上，v 在 u 的位置上。",
    "One layer’s u and v in all layers": "所有层用了同一层的 u 和 v",
    "u and v of L0 stand in all {layers} layers, number for number.": "L0 的 u 和 v 原样出现在全部 {layers} 层里。",
    "u of a layer was never initialised": "某一层的 u 从未初始化",
    "u of L{layer} has {denormal} denormal numbers and one of {largest}.": (
        "L{layer} 的 u 有 {denormal} 个非规格化数，还有一个是 {largest}。"
    ),
    "Queries, u and v of every layer are smaller by {factor}, the root of the number of heads.": (
        "每一层的查询、u 和 v 都小了 {factor} 倍，即头数的平方根。"
    ),
    "A value projection is transposed": "某个值投影转置了",
    "W_v of L{layer} is {width} × {width}, fits either way, and stands transposed.": (
        "L{layer} 的 W_v 是 {width} × {width}，怎么放都装得进去，而它是转置着的。"
    ),
    "A query projection was not loaded": "某个查询投影没有载入",
    "W_q of L{layer} has a standard deviation of {std}, as it was drawn; trained it had {was}.": (
        "L{layer} 的 W_q 标准差是 {std}，还是初始化时的样子；训练后本是 {was}。"
    ),
    "Distances are counted the other way": "距离数反了",
    "In every layer distance d reads the row of −d.": "每一层里，距离 d 读的都是 −d 的行。",
    "The position table is too short": "位置表太短",
    "The tables end at distance {last}; all that is farther away shares one row.": (
        "各层的表到距离 {last} 为止；更远的都共用一行。"
    ),
    "Far rows of the table were never trained": "表里远处的行从未训练过",
    "From distance {first} on the rows of every table are noise of std 0.02.": (
        "从距离 {first} 起，每张表的行都是标准差 0.02 的噪声。"
    ),
    "A clamp that training did not have": "训练时没有的截断",
    "clamp_len is {clamp_len}, and in training there was none.": "clamp_len 是 {clamp_len}，训练时没有设。",
    "The memory is not used": "没有用上记忆",
    "mem_len is 0, and in training it was {was}.": "mem_len 是 0，训练时是 {was}。",
    "The vocabulary belongs to another model": "词表属于另一个模型",
    "All {tokens} tokens stand in the reverse order, so every id means another character.": (
        "全部 {tokens} 个 token 的次序颠倒了，于是每个 id 对应的字符都变了。"
    ),
}
