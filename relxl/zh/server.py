"""Chinese texts of what a server forbids, and of files that it has lost or can not keep."""

TEXTS = {
    "Uploads are off in this demonstration: run relxl on your own machine.": (
        "本演示不接受上传：请在你自己的机器上运行 relxl。"
    ),
    "Long computations are off in this demonstration: run relxl on your own machine.": (
        "本演示不做耗时的计算：请在你自己的机器上运行 relxl。"
    ),
    "{name} is not there any more: showing {value}.": "{name} 已经不在了：改为显示 {value}。",
    "A file could not be read or kept here ({reason}): try again, or ask whoever runs this server.": (
        "有文件在这里无法读取或保存（{reason}）：请重试，或联系这台服务器的管理者。"
    ),
}
