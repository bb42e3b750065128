"""What is said of images: Python environments that are built once, and that jobs have by name."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said


@say("There is no image {ref}", "没有镜像 {ref}", "Give a name or an id that tm image list, or the page Images, shows.", "请使用 tm image list 或“镜像”页面列出的名称或 ID。")
def no_such_image(ref: str) -> Said: ...

@say("Several images are meant by {ref}: {ids}", "{ref} 对应多个镜像：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_images(ref: str, ids: str) -> Said: ...

@say("Image {name} has no version {version}", "镜像 {name} 没有版本 {version}", "tm image show, or the page Images, lists its versions.", "可用 tm image show 或在“镜像”页面查看其版本。")
def no_such_image_version(name: str, version: int) -> Said: ...

@say("There is no such build", "没有这次构建", "tm image builds, or the page Images, lists those that are known.", "可用 tm image builds 或在“镜像”页面查看已知的构建。")
def no_such_build() -> Said: ...

@say("The image is not valid", "镜像无效", "Fix the fields listed.", "请修正列出的字段。")
def image_not_valid() -> Said: ...

@say("not a name of an image", "不是有效的镜像名称", "Use 1 to 63 of A-Z, a-z, 0-9, dot, _ and -, beginning with a letter or digit, and no name that means the environment of the node, such as default.", "请使用 1 到 63 个字符：A-Z、a-z、0-9、点、_ 和 -，以字母或数字开头；不能使用 default 等表示节点自身环境的名称。")
def not_an_image_name() -> Said: ...

@say("the description is too long", "描述过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def image_description_too_long(most: Count) -> Said: ...

@say("give either requirements or a project", "请提供依赖列表或项目之一", "An environment is made of requirements.txt, or of pyproject.toml with or without uv.lock.", "环境由 requirements.txt，或 pyproject.toml（可带 uv.lock）生成。")
def requirements_or_project() -> Said: ...

@say("the file is too long", "文件过长", "Give at most {most_kib} KiB.", "请不要超过 {most_kib} KiB。")
def definition_too_long(most_kib: int) -> Said: ...

@say("not a TOML document: {why}", "不是有效的 TOML：{why}", "Fix the file.", "请修正文件。")
def definition_not_toml(why: str) -> Said: ...

@say("line {line} holds a user name or password in an address", "第 {line} 行的地址中含有用户名或密码", "Take it out: an administrator gives the server the package index with its credentials.", "请删去：带凭据的软件包索引由管理员在服务器上配置。")
def credentials_in_definition(line: int) -> Said: ...

@say("line {line} names a file or folder: {text}", "第 {line} 行引用了文件或文件夹：{text}", "Name packages or https addresses only: the environment is made on the server, which has no files of yours.", "只能写软件包或 https 地址：环境在服务器上生成，那里没有您的文件。")
def file_in_definition(line: int, text: str) -> Said: ...

@say("not a Python version: {value}", "不是 Python 版本：{value}", "Write it as 3.12.", "请写成 3.12 的形式。")
def not_a_python_version(value: str) -> Said: ...

@say("There is no Python {version} on the server", "服务器上没有 Python {version}", "Choose one of {known}, or ask an administrator to install it.", "请选择 {known}，或请管理员安装。")
def no_such_python(version: str, known: Names) -> Said: ...

@say("not a framework that the platform knows", "不是平台已知的框架", "Choose one of {known}.", "请选择 {known}。")
def not_a_framework(known: Names) -> Said: ...

@say("not a kind of GPU", "不是 GPU 的种类", "Choose one of {known}.", "请选择 {known}。")
def not_a_card_kind(known: Names) -> Said: ...

@say("There is an image {name} already", "已有名为 {name} 的镜像", "Choose another name: only its owner, and whom it is shared with for writing, add versions to it.", "请换一个名称：只有其所有者和获得读写共享的成员可以添加版本。")
def image_exists(name: str) -> Said: ...

@say("taken in the workspace {workspace}, by an image that you may not see perhaps", "在工作空间 {workspace} 中已被占用，占用它的镜像可能对您不可见", "Choose another name.", "请换一个名称。")
def image_name_taken(workspace: str) -> Said: ...

@say("You may not make images in the workspace {workspace}", "您不能在工作空间 {workspace} 中新建镜像", "Choose a workspace into which you submit jobs.", "请选择您可以提交任务的工作空间。")
def image_workspace_not_yours(workspace: str) -> Said: ...

@say("More than {most:image|images} of one person", "每人最多 {most} 个镜像", "Delete some first.", "请先删除一些。")
def too_many_images(most: Count) -> Said: ...

@say("More than {most:build|builds} of one person at once", "每人同时最多 {most} 次构建", "Wait until one has ended, or stop one.", "请等待其中一次结束，或停止一次。")
def too_many_builds(most: Count) -> Said: ...

@say("This image of {owner} is shared with you for reading only", "{owner} 的这个镜像只向您共享了读取权限", "Make one of your own, or ask its owner to share it read-write.", "请新建自己的镜像，或请所有者改为读写共享。")
def image_only_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this image is shared", "只有 {owner} 和工作空间管理员可以决定此镜像如何共享", "Ask one of them.", "请联系他们。")
def image_not_yours_to_share(owner: str) -> Said: ...

@say("Image {name} is needed by {count:job|jobs} that have not ended", "镜像 {name} 正被 {count} 个未结束的任务使用", "Wait until they have ended, or stop them.", "请等待这些任务结束，或将其停止。")
def image_in_use(name: str, count: Count) -> Said: ...

@say("This build has ended", "此次构建已结束", "Nothing to do.", "无需操作。")
def build_has_ended() -> Said: ...

# --- why an environment is not made

@say("The program uv, which makes environments, is not on the server", "服务器上没有用于生成环境的程序 uv", "Ask an administrator to install it: pip install uv, in the environment of the server.", "请管理员在服务器的环境中安装：pip install uv。")
def no_uv() -> Said: ...

@say("The packages conflict: {why}", "这些软件包无法同时满足：{why}", "Change the versions that are asked for.", "请修改所要求的版本。")
def not_resolved(why: str) -> Said: ...

@say("A package cannot be built: {why}", "有软件包无法构建：{why}", "Ask for a version that has a wheel for this Python, or for another Python.", "请使用带有适合此 Python 的 wheel 的版本，或换一个 Python 版本。")
def not_built(why: str) -> Said: ...

@say("The package index cannot be reached: {why}", "无法访问软件包索引：{why}", "Try again later; if it stays so, ask an administrator to look at the server's index settings.", "请稍后重试；若仍如此，请管理员检查服务器的索引设置。")
def index_not_reached(why: str) -> Said: ...

@say("The environment could not be made: {why}", "无法生成环境：{why}", "Read the log of the build.", "请查看构建日志。")
def not_made(why: str) -> Said: ...

@say("Making it took longer than {limit_s} s", "生成环境的时间超过 {limit_s} 秒", "Ask for fewer packages, or ask an administrator to raise limits.build_s.", "请减少软件包，或请管理员提高 limits.build_s。")
def build_too_slow(limit_s: float) -> Said: ...

@say("Making it took more than {limit_mib} MiB on the disk", "生成环境占用的磁盘超过 {limit_mib} MiB", "Ask for fewer packages, or ask an administrator to raise limits.build_mib.", "请减少软件包，或请管理员提高 limits.build_mib。")
def build_too_large(limit_mib: int) -> Said: ...

@say("Making it took more than {limit_mib} MiB of memory", "生成环境占用的内存超过 {limit_mib} MiB", "Ask for packages that have wheels, or ask an administrator to raise limits.build_memory_mib.", "请使用带有 wheel 的软件包，或请管理员提高 limits.build_memory_mib。")
def build_out_of_memory(limit_mib: int) -> Said: ...

@say("The build was stopped", "构建已停止", "Start it again if it is still wanted.", "如仍需要，请重新开始。")
def build_stopped() -> Said: ...

@say("The environment of image {image} is being made", "正在生成镜像 {image} 的环境", "It was removed to make room. Nothing to do: the job starts when it is there.", "该环境曾因空间不足被移除。无需操作：生成后任务会自动开始。")
def environment_being_made(image: str) -> Said: ...

@say("the environment of its image {image} could not be made: {why}", "无法生成其镜像 {image} 的环境：{why}", "Choose another image, or make a new version of it.", "请选择其他镜像，或为其生成新版本。")
def environment_not_made(image: str, why: Said) -> Said: ...

@say("its image {image} is not there any more", "其镜像 {image} 已不存在", "Choose another image.", "请选择其他镜像。")
def image_gone(image: str) -> Said: ...

# --- words, not refusals

@say("Image {image} is for {frameworks}, this job is of {framework}", "镜像 {image} 适用于 {frameworks}，而此任务的框架是 {framework}", "Choose another image if it fails.", "如果失败，请选择其他镜像。")
def image_for_others(image: str, frameworks: Names, framework: str) -> Said: ...

@say("Image {image} is not for GPUs, and this job asks for some", "镜像 {image} 不适用于 GPU，而此任务申请了 GPU", "Choose another image, or ask for no GPUs.", "请选择其他镜像，或不申请 GPU。")
def image_without_cards(image: str) -> Said: ...

# --- what people did

@say("Started to build image {name}", "开始构建镜像 {name}")
def image_begun(name: str) -> Said: ...

@say("Stopped the build of image {name}", "停止了镜像 {name} 的构建")
def image_build_stopped(name: str) -> Said: ...

@say("Built version {version} of image {name}", "构建了镜像 {name} 的版本 {version}")
def image_made(name: str, version: int) -> Said: ...

@say("Changed with whom image {name} is shared", "修改了镜像 {name} 的共享方式")
def image_shared(name: str) -> Said: ...

@say("Deleted version {version} of image {name}", "删除了镜像 {name} 的版本 {version}")
def image_version_deleted(name: str, version: int) -> Said: ...

@say("Deleted image {name}", "删除了镜像 {name}")
def image_deleted(name: str) -> Said: ...
