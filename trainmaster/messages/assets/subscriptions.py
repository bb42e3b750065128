"""What is said of what workspaces offer each other, and of what they subscribe to."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said

# --- what is refused

@say("There is nothing with the id {id} to offer", "没有可供发布的 {id}", "Look whether it was deleted.", "请确认它是否已被删除。")
def nothing_to_offer(id: str) -> Said: ...

@say("Nothing is offered to the workspace {workspace} under {id}", "没有向工作空间 {workspace} 发布 {id}", "tm {kind} published, or Published in the console's list, shows what is.", "可用 tm {kind} published 或控制台列表中的“已发布”查看。")
def not_offered(id: str, workspace: str, kind: str) -> Said: ...

@say("Several published things are called {name}: {ids}", "有多个已发布项名为 {name}：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_published(name: str, ids: str) -> Said: ...

@say("The workspace {workspace} subscribes to nothing under {name}", "工作空间 {workspace} 没有名为 {name} 的订阅", "tm {kind} subscriptions lists what it subscribes to.", "可用 tm {kind} subscriptions 查看其订阅。")
def no_such_subscription(name: str, workspace: str, kind: str) -> Said: ...

@say("taken in the workspace {workspace}: it subscribes to something of another workspace under this name", "在工作空间 {workspace} 中已被占用：它以此名称订阅了其他工作空间的内容", "Choose another name, or end the subscription.", "请换一个名称，或取消该订阅。")
def name_subscribed(workspace: str) -> Said: ...

@say("The image {name} cannot be offered to other workspaces: its registry asks for the secret {secret}, which is its workspace's own", "镜像 {name} 不能发布给其他工作空间：拉取它需要本工作空间的密钥 {secret}", "Delete the versions made with a secret, or make the image from a registry that asks for none; other workspaces can also make it themselves, with a secret of their own.", "请删除使用密钥生成的版本，或改用无需密钥的镜像仓库；其他工作空间也可以用自己的密钥自行生成。")
def image_needs_secret(name: str, secret: str) -> Said: ...

@say("The image {name} is offered to other workspaces, so it can have no version for which its registry asks for the secret {secret} of this one", "镜像 {name} 已发布给其他工作空间，因此不能有需要本工作空间密钥 {secret} 才能拉取的版本", "Withdraw its offers first, or make an image of another name with the secret.", "请先撤回其发布，或使用该密钥生成另一个名称的镜像。")
def offered_image_needs_secret(name: str, secret: str) -> Said: ...

@say("The name {name} is taken", "名称 {name} 已被占用", "Choose another name to subscribe under.", "请用其他名称订阅。")
def name_not_free(name: str) -> Said: ...

@say("means something else in the workspace {workspace} already", "在工作空间 {workspace} 中已有其他含义", "Choose another name.", "请换一个名称。")
def name_means_something(workspace: str) -> Said: ...

@say("A workspace can subscribe to at most {most:thing|things}", "一个工作空间最多有 {most} 个订阅", "End some subscriptions first.", "请先取消一些订阅。")
def too_many_subscriptions(most: Count) -> Said: ...

@say("The offer is not valid", "发布设置无效", "Fix the fields listed.", "请修正列出的字段。")
def offer_not_valid() -> Said: ...

@say("it is in the workspace {workspace} itself", "它本来就在工作空间 {workspace} 中", "Name another workspace; to its own members it is shared.", "请选择其他工作空间；对本工作空间的成员请用共享。")
def offered_to_itself(workspace: str) -> Said: ...

@say("The subscription is not valid", "订阅无效", "Fix the fields listed.", "请修正列出的字段。")
def subscription_not_valid() -> Said: ...

@say("an administrator lets nothing be shared in the workspace {workspace}", "管理员已关闭工作空间 {workspace} 中的共享", "Ask an administrator to allow sharing there.", "请联系管理员开启该工作空间的共享。")
def nothing_passed_on(workspace: str) -> Said: ...

# --- what things are called

@say("data set", "数据集")
def a_dataset() -> Said: ...

@say("algorithm", "算法")
def an_algorithm() -> Said: ...

@say("image", "镜像")
def an_image() -> Said: ...

@say("template", "模板")
def a_template() -> Said: ...

# --- what the audit tells; what: what things are called

@say("Offered {what} {name} to the workspace {workspace}", "向工作空间 {workspace} 发布了{what} {name}")
def offered(what: Said, name: str, workspace: str) -> Said: ...

@say("Offered {what} {name} to everybody", "向所有人发布了{what} {name}")
def offered_to_all(what: Said, name: str) -> Said: ...

@say("No longer offers {what} {name} to the workspace {workspace}", "不再向工作空间 {workspace} 发布{what} {name}")
def withdrawn(what: Said, name: str, workspace: str) -> Said: ...

@say("No longer offers {what} {name} to everybody", "不再向所有人发布{what} {name}")
def withdrawn_from_all(what: Said, name: str) -> Said: ...

@say("The {what} {name}, to which this workspace subscribes, is no longer offered to it", "本工作空间订阅的{what} {name} 已不再向其发布")
def lapsed(what: Said, name: str) -> Said: ...

@say("Subscribed to {what} {name} of the workspace {workspace}", "订阅了工作空间 {workspace} 的{what} {name}")
def subscribed(what: Said, name: str, workspace: str) -> Said: ...

@say("Ended the subscription to {what} {name}", "取消了对{what} {name} 的订阅")
def unsubscribed(what: Said, name: str) -> Said: ...

# --- what the audit told before other things than data sets were offered

@say("Offered data set {name} to the workspace {workspace}", "向工作空间 {workspace} 发布了数据集 {name}")
def dataset_offered(name: str, workspace: str) -> Said: ...

@say("Offered data set {name} to everybody", "向所有人发布了数据集 {name}")
def dataset_offered_to_all(name: str) -> Said: ...

@say("No longer offers data set {name} to the workspace {workspace}", "不再向工作空间 {workspace} 发布数据集 {name}")
def dataset_withdrawn(name: str, workspace: str) -> Said: ...

@say("No longer offers data set {name} to everybody", "不再向所有人发布数据集 {name}")
def dataset_withdrawn_from_all(name: str) -> Said: ...

@say("Data set {name}, to which this workspace subscribes, is no longer offered to it", "本工作空间订阅的数据集 {name} 已不再向其发布")
def subscription_lapsed(name: str) -> Said: ...

@say("Subscribed to data set {name} of the workspace {workspace}", "订阅了工作空间 {workspace} 的数据集 {name}")
def dataset_subscribed(name: str, workspace: str) -> Said: ...

@say("Ended the subscription to data set {name}", "取消了对数据集 {name} 的订阅")
def subscription_ended(name: str) -> Said: ...
