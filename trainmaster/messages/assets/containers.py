"""What is said of container images: how they are named, fetched and unpacked, and why they cannot be."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said


@say("not a reference of a container image", "不是容器镜像的引用", "Write it as registry/path:tag or registry/path@sha256:..., without user name and password.", "请写成 仓库/路径:标签 或 仓库/路径@sha256:... 的形式，不含用户名和密码。")
def not_a_reference() -> Said: ...

@say("an image is either a container or made of packages", "镜像要么来自容器，要么由软件包生成", "Give a container alone: it has its own programs and Python.", "请只给出容器：它自带程序和 Python。")
def container_alone() -> Said: ...

@say("A secret is only asked for with a container", "只有容器镜像才需要密钥", "Leave it out.", "请将其删去。")
def secret_without_container() -> Said: ...

@say("You may not use the secrets of the workspace {workspace}", "您不能使用工作空间 {workspace} 的密钥", "Ask an admin of the workspace.", "请联系工作空间管理员。")
def registry_secret_not_yours(workspace: str) -> Said: ...

@say("There is no secret {name} in the workspace {workspace}", "工作空间 {workspace} 中没有密钥 {name}", "Set it with tm secret set; its value is the user name and the password of the registry, with a colon between them.", "请用 tm secret set 设置；其值为仓库的用户名和密码，中间用冒号分隔。")
def no_registry_secret(name: str, workspace: str) -> Said: ...

@say("The secret {name} holds no user name and password of a registry", "密钥 {name} 中没有仓库的用户名和密码", "Its value must be USER:PASSWORD, or JSON with username and password.", "其值应为 用户名:密码，或含 username 和 password 的 JSON。")
def secret_not_for_registry(name: str) -> Said: ...

# --- whether there is a runtime

@say("No container runtime is configured here", "此处没有配置容器运行时", "An administrator can name the socket of Docker or Podman in local.containers; images made of packages need none.", "管理员可以在 local.containers 中填写 Docker 或 Podman 的套接字；由软件包生成的镜像不需要。")
def containers_off() -> Said: ...

@say("The container runtime at {path} does not answer: {why}", "容器运行时 {path} 没有响应：{why}", "Ask an administrator to start Docker or Podman, or to let the server's user reach its socket.", "请管理员启动 Docker 或 Podman，或让服务器的用户可以访问其套接字。")
def runtime_silent(path: str, why: str) -> Said: ...

@say("Container images need the sandbox, which does not work on this node", "容器镜像需要沙箱，而此节点上沙箱不可用", "Ask an administrator: tm doctor says what is missing.", "请联系管理员：tm doctor 会说明缺少什么。")
def containers_need_sandbox() -> Said: ...

@say("Jobs of this pool cannot have container images", "此资源池的任务不能使用容器镜像", "Choose another pool, or an image made of packages.", "请选择其他资源池，或由软件包生成的镜像。")
def containers_not_here() -> Said: ...

# --- while a job waits for one

@say("The container of image {image} is being pulled again: {line}", "正在重新拉取镜像 {image} 的容器：{line}", "It was removed to make room. Nothing to do: the job starts when it is there.", "其内容曾因空间不足被移除。无需操作：就绪后任务会自动开始。")
def image_pulled_again(image: str, line: str) -> Said: ...

@say("The container of image {image} is being unpacked: {line}", "正在解包镜像 {image} 的容器：{line}", "Nothing to do: the job starts when it is there.", "无需操作：就绪后任务会自动开始。")
def image_unpacked_again(image: str, line: str) -> Said: ...

# --- why an image is not there

@say("The registry refuses {image}: {why}", "仓库拒绝提供 {image}：{why}", "Give the name of a workspace secret with the user name and password of the registry, and look whether they may read it.", "请给出含仓库用户名和密码的工作空间密钥的名称，并确认其有读取权限。")
def registry_denied(image: str, why: str) -> Said: ...

@say("The registry has no {image}: {why}", "仓库中没有 {image}：{why}", "Look at its name, tag and digest.", "请检查名称、标签和摘要。")
def image_not_in_registry(image: str, why: str) -> Said: ...

@say("{image} could not be had: {why}", "无法取得 {image}：{why}", "Try again later; if it stays so, ask an administrator to look at the container runtime.", "请稍后重试；若仍如此，请管理员检查容器运行时。")
def image_not_fetched(image: str, why: str) -> Said: ...

@say("{image} has files that cannot be unpacked: {why}", "{image} 中有无法解包的文件：{why}", "Build it again, or take another.", "请重新构建该镜像，或换一个。")
def image_damaged(image: str, why: str) -> Said: ...

@say("{image} takes more than {limit_mib} MiB on the disk", "{image} 占用的磁盘超过 {limit_mib} MiB", "Take a smaller one, or ask an administrator to raise limits.build_mib.", "请使用更小的镜像，或请管理员提高 limits.build_mib。")
def image_too_large(image: str, limit_mib: int) -> Said: ...

@say("Fetching {image} took longer than {limit_s} s", "取得 {image} 的时间超过 {limit_s} 秒", "Take a smaller one, or ask an administrator to raise limits.build_s.", "请使用更小的镜像，或请管理员提高 limits.build_s。")
def image_too_slow(image: str, limit_s: float) -> Said: ...
