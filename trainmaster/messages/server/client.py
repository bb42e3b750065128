"""What the client says by itself, on the machine of whoever uses it: the SDK of servers and of what it reads and
writes, and the command line.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

ELSEWHERE = "Remove them, or choose another folder with --to."
ELSEWHERE_ZH = "请删除它们，或用 --to 指定其他文件夹。"
INSTALL = 'To run a server here: pip install "trainmaster[server]"'
INSTALL_ZH = '要在这里运行服务器：pip install "trainmaster[server]"'

# --- finding a server

@say("No Trainmaster server is running on the home folder {folder}", "平台目录 {folder} 上没有运行 Trainmaster 服务器", "Start one with trainmaster serve, or name another one with TRAINMASTER_URL (or --url).", "请用 trainmaster serve 启动服务器，或用 TRAINMASTER_URL（或 --url）指定其他服务器。")
def no_server_on_home(folder: str) -> Said: ...

@say("The home folder {folder} belongs to another user", "平台目录 {folder} 属于其他用户", "Ask the person who runs that server for its address and a token, and set TRAINMASTER_URL and TRAINMASTER_TOKEN.", "请向运行该服务器的人索取地址和令牌，用 TRAINMASTER_URL 和 TRAINMASTER_TOKEN 指定。")
def home_is_closed(folder: str) -> Said: ...

@say("{address} is not a server's address", "{address} 不是服务器地址", "Write it like http://127.0.0.1:8470.", "请写成 http://127.0.0.1:8470 的形式。")
def not_a_server_address(address: str) -> Said: ...


# --- talking to it

@say("The server at {url} does not answer ({error})", "服务器 {url} 没有响应（{error}）", "Make sure that it is running (trainmaster serve), and check it with: tm doctor", "请确认它在运行：用 trainmaster serve 启动，用 tm doctor 检查。")
def server_does_not_answer(url: str, error: str) -> Said: ...

@say("The certificate of the server at {url} is not trusted here: {why}", "本机不信任服务器 {url} 的证书：{why}", "Name the file of the CA that issued it by --ca, TRAINMASTER_CA or SSL_CERT_FILE.", "请用 --ca、TRAINMASTER_CA 或 SSL_CERT_FILE 指定签发该证书的 CA 文件。")
def certificate_not_trusted(url: str, why: str) -> Said: ...

@say("There is no TLS at {url}: {why}", "{url} 不提供 TLS：{why}", "Write http:// if the server speaks plain HTTP.", "如果服务器只提供 HTTP，请写 http://。")
def no_tls_there(url: str, why: str) -> Said: ...

@say("The certificates in {path} cannot be read: {error}", "无法读取 {path} 中的证书：{error}", "Name a file of certificates in PEM format by --ca, TRAINMASTER_CA or SSL_CERT_FILE.", "请用 --ca、TRAINMASTER_CA 或 SSL_CERT_FILE 指定 PEM 格式的证书文件。")
def certificates_not_read(path: str, error: str) -> Said: ...

@say("This client does not understand the answer of the server at {url} ({error})", "此客户端无法识别服务器 {url} 的响应（{error}）", "Use the same version on both sides. This client is {version}; tm doctor shows the server's version.", "请在两端使用相同的版本。此客户端的版本为 {version}；tm doctor 会显示服务器的版本。")
def answer_not_understood(url: str, error: str, version: str) -> Said: ...

@say("The server answered {status} {phrase}", "服务器返回了 {status} {phrase}")
def answered_with_status(status: int, phrase: str) -> Said: ...

@say("The connection to the server at {url} was lost", "与服务器 {url} 失去联系")
def server_went_away(url: str) -> Said: ...

@say("The connection to the server at {url} was lost while waiting for {job}", "等待 {job} 时与服务器 {url} 失去联系")
def server_went_away_meanwhile(url: str, job: str) -> Said: ...

@say("The job {job} was deleted", "任务 {job} 已被删除")
def job_was_deleted(job: str) -> Said: ...

@say("The connection to the server was lost; the command in the replica has ended", "与服务器的连接中断；在副本中运行的命令已结束")
def connection_broke_inside() -> Said: ...

@say("The server closed the connection; the command in the replica has ended", "服务器关闭了连接；在副本中运行的命令已结束")
def connection_ended_inside() -> Said: ...


# --- job files

@say("The job file cannot be read", "无法读取任务文件", "Check the path.", "请检查路径。")
def job_file_not_read() -> Said: ...

@say("cannot be read: {error}", "无法读取：{error}", "Check the path.", "请检查路径。")
def unreadable(error: str) -> Said: ...

@say("The job file cannot be read", "无法读取任务文件", "Give a path, a dict or a JobSpec.", "请传入路径、dict 或 JobSpec。")
def job_not_given() -> Said: ...

@say("is neither a file nor an object with fields", "既不是文件，也不是带字段的对象", "Give a path, a dict or a JobSpec.", "请传入路径、dict 或 JobSpec。")
def neither_file_nor_object() -> Said: ...


# --- downloads

@say("{path} cannot be written: {error}", "无法写入 {path}：{error}", "Free disk space, or name another folder with --to.", "请清理磁盘空间，或用 --to 指定其他文件夹。")
def download_not_written(path: str, error: str) -> Said: ...

@say("{count:file exists|files exist} already; nothing was written", "已有 {count} 个同名文件；没有写入任何内容", ELSEWHERE, ELSEWHERE_ZH)
def files_exist(count: Count) -> Said: ...

@say("The files cannot be uploaded", "文件无法上传", "Upload again when nothing writes to them.", "请等没有程序写入时重新上传。")
def files_not_read() -> Said: ...

@say("cannot be read: {error}", "无法读取：{error}", "Fix its permissions, or leave it out.", "请修正它的权限，或不要包含它。")
def file_not_read(error: str) -> Said: ...

@say("The files are others than those with which this upload began, or have changed since", "文件与此次上传开始时不同，或已发生变化", "Begin a new upload.", "请重新开始上传。")
def other_files_than_begun() -> Said: ...

@say("Data set {name} cannot be downloaded", "数据集 {name} 无法下载", "Download again; what has arrived whole is not sent again.", "请重新下载；已完整到达的文件不会再次传输。")
def dataset_not_downloaded(name: str) -> Said: ...

@say("does not lie inside the folder", "不在该文件夹之内", "Nothing of it was written. Tell the administrator of the server.", "未写入任何内容。请告知服务器管理员。")
def leads_out_of_the_folder() -> Said: ...

@say("what arrived is not what the server lists", "到达的内容与服务器所列不符", "Download again; if it happens again, tell the administrator.", "请重新下载；若仍出现，请告知管理员。")
def arrived_otherwise() -> Said: ...

@say("{text} names nothing on a server", "{text} 不是服务器上的位置", "Fix it as listed.", "请按列出的方式修改。")
def not_a_place(text: str) -> Said: ...

@say("places on a server are volume:NAME/PATH, job:ID/PATH, dataset:NAME@VERSION/PATH and model:NAME@VERSION/PATH; anything else is a path here", "服务器上的位置写作 volume:名称/路径、job:任务/路径、dataset:名称@版本/路径 或 model:名称@版本/路径；其余均为本机路径", "Write ./ before a path here that looks like one of these.", "若本机路径与上述写法相似，请在前面加上 ./。")
def places_are() -> Said: ...

@say("Exactly one side of a copy is on the server", "复制的两边必须恰好有一边在服务器上", "Give a path here for the other.", "另一边请填写本机路径。")
def one_side_is_here() -> Said: ...

@say("Nothing can be copied to {target}: only volumes can be written", "无法复制到 {target}：只有存储卷可以写入", "Copy to volume:NAME/PATH. Upload versions of data sets with tm dataset upload.", "请复制到 volume:名称/路径。数据集的版本请用 tm dataset upload 上传。")
def only_volumes_are_written(target: str) -> Said: ...

@say("The folder {path} has more than {most:entry|entries}, which are too many to copy one by one", "文件夹 {path} 中超过 {most} 项，无法逐个复制", "Copy the whole version instead.", "请改为复制整个版本。")
def folder_too_large_to_copy(path: str, most: Count) -> Said: ...

@say("already exists", "已存在", ELSEWHERE, ELSEWHERE_ZH)
def exists() -> Said: ...


# --- what is installed and configured here

@say("This needs server packages that are not installed here: {packages}", "此操作需要服务器的软件包，而这里没有安装：{packages}", f"{INSTALL}. To use a server elsewhere, name it with TRAINMASTER_URL (or --url).", f"{INSTALL_ZH}。要使用别处的服务器，请用 TRAINMASTER_URL（或 --url）指定它。")
def server_packages_missing(packages: Names) -> Said: ...

@say("There is no engine {name}", "没有引擎 {name}", "There are: {known}.", "可用：{known}。")
def engine_not_found(name: str, known: Names) -> Said: ...


# --- starting a server

@say("The address {host}:{port} cannot be used: {error}", "无法使用地址 {host}:{port}：{error}", "Choose another one with --port (0 picks a free one) or --host.", "请用 --port（0 表示任选一个空闲端口）或 --host 另选地址。")
def address_not_usable(host: str, port: int, error: str) -> Said: ...

@say("The home folder {folder} cannot be used: {error}", "无法使用平台目录 {folder}：{error}", "Choose another one with --home or TRAINMASTER_HOME.", "请用 --home 或 TRAINMASTER_HOME 另选一个。")
def home_not_usable(folder: str, error: str) -> Said: ...

@say("A server is already running on the home folder {folder}", "平台目录 {folder} 上已有服务器在运行", "Use that server, stop it first, or give another --home.", "请使用该服务器、先停止它，或用 --home 另选目录。")
def server_runs_already(folder: str) -> Said: ...

@say("A server is already running on the home folder {folder} at {url}", "平台目录 {folder} 上已有服务器在运行，地址为 {url}", "Use that server, stop it first, or give another --home.", "请使用该服务器、先停止它，或用 --home 另选目录。")
def server_runs_already_at(folder: str, url: str) -> Said: ...


# --- tm simulate

@say("nothing to simulate", "没有可模拟的内容", "Give a file of jobs and a cluster, such as --cluster 64x8; or use --history for the server's own past.", "请指定任务记录文件及其集群，例如 --cluster 64x8；或用 --history 取服务器自己的历史记录。")
def nothing_to_simulate() -> Said: ...

@say("no job has ended on this server yet", "此服务器上还没有已结束的任务", "Give a file of jobs instead of --history.", "请不用 --history，改为指定任务记录文件。")
def no_history_yet() -> Said: ...

@say("{why}", "{why}", "Write --start-cost like 30s and --fault like node-3@2d+6h.", "--start-cost 请写成 30s 的形式，--fault 请写成 node-3@2d+6h 的形式。")
def cost_or_fault_not_read(why: Said) -> Said: ...

@say("{path}: unknown type of output file", "{path}：未知的输出文件类型", "Use a file name that ends in .html or .csv.", "请使用以 .html 或 .csv 结尾的文件名。")
def unknown_kind_of_output(path: str) -> Said: ...

@say("{path}: this folder does not exist", "{path}：没有此文件夹", "Choose a file in an existing folder.", "请指定已有文件夹中的文件。")
def no_folder_for_output(path: str) -> Said: ...

@say("{path} cannot be written: {error}", "无法写入 {path}：{error}", "Choose another file.", "请指定其他文件。")
def output_not_written(path: str, error: str) -> Said: ...
