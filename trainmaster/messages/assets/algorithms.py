"""What is said of algorithms: of their documents, of jobs that name one, and to those who look after them."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- the document

@say("The algorithm is not valid: {count:problem|problems}", "算法无效：{count} 个问题", "Fix the fields listed.", "请修正列出的字段。")
def algorithm_not_valid(count: Count) -> Said: ...

@say("Only a number has a range, not a {type}", "只有数值类型才有取值范围，{type} 没有", "Leave it out, or list choices.", "请去掉取值范围，或改用 choices 列出可选值。")
def range_of_no_number(type: str) -> Said: ...

@say("What cannot be edited has no value", "不可修改的超参没有值", "Give it a default, or let it be edited.", "请填写默认值，或允许修改。")
def fixed_without_value() -> Said: ...

@say("The code folder {path} is not uploaded", "代码文件夹 {path} 尚未上传", "Upload it first: tm algorithm upload does.", "请先上传：tm algorithm upload 会自动上传。")
def algorithm_code_not_uploaded(path: str) -> Said: ...

# --- code of a commit

@say("The code cannot be taken from there", "无法从此处获取代码", "Fix the fields listed.", "请修正列出的字段。")
def origin_not_valid() -> Said: ...

@say("not the address of a git repository on a server", "不是服务器上 git 仓库的地址", "Use https://HOST/PATH, http://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH. Files of this computer and helpers such as ext:: are not taken.", "请使用 https://主机/路径、http://主机/路径、ssh://用户@主机/路径 或 用户@主机:路径。不支持本机文件，也不支持 ext:: 之类的辅助程序。")
def not_an_origin() -> Said: ...

@say("an address of a repository holds no user, password or token, as others see it", "仓库地址中不能有用户名、密码或令牌，因为其他人会看到它", "Leave them out, with ? and # and what follows; git takes them from its credential helper, or use an SSH key.", "请去掉它们，以及 ? 和 # 及其后的内容；git 会从凭据助手读取，也可以使用 SSH 密钥。")
def origin_with_password() -> Said: ...

@say("not the full hash of a commit", "不是完整的提交哈希", "Write all 40 digits, as git rev-parse HEAD shows them: a branch or a tag may move.", "请写出全部 40 位，即 git rev-parse HEAD 的输出：分支和标签可能会变动。")
def not_a_commit() -> Said: ...

@say("not a folder of the repository", "不是仓库中的文件夹", "Write its path from the top of the repository, such as nets/mnist, without a slash in front, . or ..", "请写从仓库顶层开始的路径，例如 nets/mnist，开头不加斜杠，也不用 . 或 ..。")
def not_a_folder_of_repository() -> Said: ...

@say("Only uploaded code has an origin", "只有上传的代码才有来源", "Leave origin out, or name the code.", "请去掉 origin，或填写 code。")
def origin_without_code() -> Said: ...

@say("Git is not installed on this computer", "此计算机上没有安装 git", "Install it, or clone the repository elsewhere and give its folder.", "请先安装，或在别处克隆仓库后使用其文件夹。")
def no_git() -> Said: ...

@say("Git could not fetch the commit: {why}", "git 无法获取此提交：{why}", "See whether git fetch with this address works here: the address, the network, and who may read the repository.", "请确认在此处用 git fetch 可以访问此地址：检查地址、网络以及仓库的读取权限。")
def commit_not_fetched(why: str) -> Said: ...

@say("the repository has no such commit", "仓库中没有此提交", "Look at the hash, and whether the commit was pushed.", "请检查哈希，以及此提交是否已推送。")
def no_such_commit() -> Said: ...

@say("the commit has no such folder", "此提交中没有此文件夹", "Look at its path from the top of the repository.", "请检查从仓库顶层开始的路径。")
def no_such_folder_in_commit() -> Said: ...

@say("there is no algorithm.yaml", "此处没有 algorithm.yaml", "Name the folder of the repository in which it is, or write one here and give the address of the repository in its field code.", "请填写仓库中它所在的文件夹，或在本地编写一个，并在其 code 字段中填写仓库地址。")
def no_algorithm_file_in_commit() -> Said: ...

@say("a submodule, which is not fetched", "是子模块，不会被获取", "Put its files into the repository, or upload a folder in which they are.", "请把其文件放入仓库，或上传一个包含这些文件的文件夹。")
def submodule_in_commit() -> Said: ...

@say("no path that a file of code can have", "不是代码文件可用的路径", "Rename it in the repository.", "请在仓库中重命名。")
def path_in_commit_not_usable() -> Said: ...

@say("The commit cannot be used: {count:problem|problems}", "此提交无法使用：{count} 个问题", "Fix what is listed in the repository, and name the new commit.", "请在仓库中修正列出的内容，然后使用新的提交。")
def commit_not_usable(count: Count) -> Said: ...

@say("the code of an algorithm from a repository is in that repository", "来自仓库的算法，其代码须在该仓库中", "Name a folder beside algorithm.yaml, or leave code out.", "请填写与 algorithm.yaml 同级的文件夹，或去掉 code。")
def code_outside_repository() -> Said: ...

# --- jobs that name one

@say("There is no algorithm {ref} for this job in the workspace {workspace}", "工作空间 {workspace} 中没有此任务可用的算法 {ref}", "tm algorithm list, or the page Algorithms, shows those that you may use; subscribe to one that another workspace offers.", "可用 tm algorithm list 或在“算法”页面查看您能使用的算法；其他工作空间发布的算法可以订阅。")
def no_algorithm_for_job(ref: str, workspace: str) -> Said: ...

@say("Only the server knows the algorithm {ref}: its command and parameters are not checked here", "只有服务器知道算法 {ref}：此处不检查其命令和参数", "Leave --offline out to check them.", "去掉 --offline 即可检查。")
def algorithm_not_known_here(ref: str) -> Said: ...

@say("A job with an algorithm runs the code of that", "使用算法的任务运行的是算法的代码", "Leave code out, or leave algorithm out.", "请去掉 code，或去掉 algorithm。")
def code_of_algorithm() -> Said: ...

@say("No sub-task runs the command of the algorithm", "没有子任务运行算法的命令", "Leave command out in one of them, or leave algorithm out.", "请在其中一个子任务中去掉 command，或去掉 algorithm。")
def command_of_algorithm() -> Said: ...

@say("Only a job with an algorithm has input channels", "只有使用算法的任务才有输入通道", "Name the algorithm, or leave channel out.", "请填写 algorithm，或去掉 channel。")
def channel_without_algorithm() -> Said: ...

@say("The algorithm has no such input channel; it has {channels}", "算法没有此输入通道；它有：{channels}", "Use one of them, or leave channel out.", "请使用其中之一，或去掉 channel。")
def no_such_input_channel(channels: Names) -> Said: ...

@say("This channel takes {kinds}, not {kind}", "此通道接受 {kinds}，不接受 {kind}", "Give it one of these.", "请改用可接受的种类。")
def kind_not_of_channel(kind: str, kinds: Names) -> Said: ...

@say("The channel {name} is given two inputs", "通道 {name} 有两个输入", "Give it one.", "请只保留一个。")
def channel_twice(name: str) -> Said: ...

@say("The algorithm needs an input for its channel {name}", "算法的通道 {name} 缺少输入", "Add an input with channel: {name}.", "请添加一项输入，并将其 channel 设为 {name}。")
def channel_missing(name: str) -> Said: ...

@say("{name} is a channel of the algorithm, not a hyperparameter", "{name} 是算法的通道，不是超参", "Leave it out; for an input channel, write channel: {name} at an input.", "请去掉它；输入通道请在某个输入中写 channel: {name}。")
def parameter_is_channel(name: str) -> Said: ...

@say("The algorithm has no hyperparameter {name} and takes no others", "算法没有超参 {name}，且不支持自定义超参", "Use {known}, or leave it out.", "请使用 {known}，或去掉它。")
def no_such_parameter(name: str, known: Names) -> Said: ...

@say("The algorithm does not let {name} be left out", "算法不允许删除超参 {name}", "Give it a value.", "请填写它的值。")
def parameter_not_deletable(name: str) -> Said: ...

@say("The algorithm does not let {name} be changed from {default}", "算法不允许修改超参 {name}，其值为 {default}", "Leave it out.", "请去掉它。")
def parameter_not_editable(name: str, default: str) -> Said: ...

@say("The algorithm runs only with the flavors {flavors}", "算法只能使用以下规格：{flavors}", "Choose one of them.", "请选择其中之一。")
def flavors_of_algorithm(flavors: Names) -> Said: ...

@say("The algorithm runs on {kinds}, not on {kind}", "算法运行在 {kinds} 上，而不是 {kind}", "Choose other resources.", "请选择其他资源。")
def runs_on_others(kinds: Names, kind: Names) -> Said: ...

# --- algorithms and their versions

@say("There is no algorithm {ref}", "没有算法 {ref}", "Give a name or an id that tm algorithm list, or the page Algorithms, shows.", "请使用 tm algorithm list 或“算法”页面列出的名称或 ID。")
def no_such_algorithm(ref: str) -> Said: ...

@say("Several algorithms are meant by {ref}: {ids}", "{ref} 对应多个算法：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_algorithms(ref: str, ids: str) -> Said: ...

@say("Algorithm {name} has no version {version}", "算法 {name} 没有版本 {version}", "tm algorithm show, or the page Algorithms, lists its versions.", "可用 tm algorithm show 或在“算法”页面查看其版本。")
def no_such_algorithm_version(name: str, version: int) -> Said: ...

@say("This version of algorithm {name} has no code of its own", "算法 {name} 的此版本没有自己的代码", "Its code is in its image.", "它的代码在镜像中。")
def algorithm_without_code(name: str) -> Said: ...

@say("There is an algorithm {name} already", "已有名为 {name} 的算法", "Choose another name.", "请换一个名称。")
def algorithm_exists(name: str) -> Said: ...

@say("taken in the workspace {workspace}, by an algorithm that you may not see perhaps", "在工作空间 {workspace} 中已被占用，占用它的算法可能对您不可见", "Choose another name.", "请换一个名称。")
def algorithm_name_taken(workspace: str) -> Said: ...

@say("More than {most:algorithm|algorithms} of one person", "每人最多 {most} 个算法", "Delete some first.", "请先删除一些。")
def too_many_algorithms(most: Count) -> Said: ...

@say("not a name of an algorithm", "不是有效的算法名称", "Use 1 to 30 letters, digits, Chinese characters, - or _.", "请使用 1 到 30 个字母、数字、汉字、- 或 _。")
def not_an_algorithm_name() -> Said: ...

@say("the description is too long", "描述过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def algorithm_description_too_long(most: Count) -> Said: ...

@say("This algorithm of {owner} is shared with you for reading only", "{owner} 的这个算法只向您共享了读取权限", "Make one under another name, or ask its owner to share it read-write.", "请使用其他名称新建，或请所有者改为读写共享。")
def algorithm_only_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this algorithm is shared", "只有 {owner} 和工作空间管理员可以决定此算法如何共享", "Ask one of them.", "请联系他们。")
def algorithm_not_yours_to_share(owner: str) -> Said: ...

# --- what people did

@say("Created version {version} of algorithm {name}", "新建了算法 {name} 的版本 {version}")
def algorithm_version_made(name: str, version: int) -> Said: ...

@say("Described algorithm {name}", "修改了算法 {name} 的描述")
def algorithm_described(name: str) -> Said: ...

@say("Changed with whom algorithm {name} is shared", "修改了算法 {name} 的共享方式")
def algorithm_shared(name: str) -> Said: ...

@say("Deleted version {version} of algorithm {name}", "删除了算法 {name} 的版本 {version}")
def algorithm_version_deleted(name: str, version: int) -> Said: ...

@say("Deleted algorithm {name}", "删除了算法 {name}")
def algorithm_deleted(name: str) -> Said: ...
