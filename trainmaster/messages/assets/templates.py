"""What is said of templates: job documents under a name, from which jobs are submitted."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said


@say("There is no template {ref}", "没有模板 {ref}", "Give a name or an id that tm template list, or the page Templates, shows.", "请使用 tm template list 或“模板”页面列出的名称或 ID。")
def no_such_template(ref: str) -> Said: ...

@say("Several templates are meant by {ref}: {ids}", "{ref} 对应多个模板：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_templates(ref: str, ids: str) -> Said: ...

@say("Template {name} has no version {version}", "模板 {name} 没有版本 {version}", "tm template show, or the page Templates, lists its versions.", "可用 tm template show 或在“模板”页面查看其版本。")
def no_such_template_version(name: str, version: int) -> Said: ...

@say("The template is not valid", "模板无效", "Fix the fields listed.", "请修正列出的字段。")
def template_not_valid() -> Said: ...

@say("not a name of a template", "不是有效的模板名称", "Use 1 to 30 letters, digits, Chinese characters, - or _.", "请使用 1 到 30 个字母、数字、汉字、- 或 _。")
def not_a_template_name() -> Said: ...

@say("the description is too long", "描述过长", "Write at most {most:character|characters}.", "请最多写 {most} 个字符。")
def template_description_too_long(most: Count) -> Said: ...

@say("give either a job file or a job", "请提供任务文件或任务之一", "A template is made of one of the two.", "模板由其中一个创建。")
def document_or_job() -> Said: ...

@say("There is a template {name} already", "已有名为 {name} 的模板", "Choose another name, or edit that template.", "请换一个名称，或编辑已有的模板。")
def template_exists(name: str) -> Said: ...

@say("taken in the workspace {workspace}, by a template that you may not see perhaps", "在工作空间 {workspace} 中已被占用，占用它的模板可能对您不可见", "Choose another name.", "请换一个名称。")
def template_name_taken(workspace: str) -> Said: ...

@say("More than {most:template|templates} of one person", "每人最多 {most} 个模板", "Delete some first.", "请先删除一些。")
def too_many_templates(most: Count) -> Said: ...

@say("Template {name} was changed by somebody meanwhile", "模板 {name} 已被他人修改", "Load it again, and make your change to what it is now.", "请重新加载，再在最新内容上修改。")
def template_changed_meanwhile(name: str) -> Said: ...

@say("its last version is {version}", "其最新版本为 {version}", "Give the version that you edited, or leave it out to replace whatever is there.", "请提供所编辑的版本；不写则直接覆盖。")
def changed_meanwhile(version: int) -> Said: ...

@say("This template of {owner} is shared with you for reading only", "{owner} 的这个模板只向您共享了读取权限", "Copy it and change yours, or ask its owner to share it read-write.", "请复制后修改副本，或请所有者改为读写共享。")
def template_only_to_read(owner: str) -> Said: ...

@say("Only {owner} and the admins of the workspace decide how this template is shared", "只有 {owner} 和工作空间管理员可以决定此模板如何共享", "Ask one of them.", "请联系他们。")
def template_not_yours_to_share(owner: str) -> Said: ...

@say("The document of template {name} cannot be read", "模板 {name} 的内容无法读取", "Edit it with a whole document, use an older version, or delete it.", "请用完整的文档编辑它、使用旧版本，或将其删除。")
def template_unreadable(name: str) -> Said: ...

@say("More than {most:template|templates} in one request", "一次请求的模板超过 {most} 个", "Ask for fewer at a time.", "请分批处理。")
def too_many_templates_at_once(most: Count) -> Said: ...

# --- what people did

@say("Created template {name}", "新建了模板 {name}")
def template_made(name: str) -> Said: ...

@say("Changed template {name}", "修改了模板 {name}")
def template_changed(name: str) -> Said: ...

@say("Changed with whom template {name} is shared", "修改了模板 {name} 的共享方式")
def template_shared(name: str) -> Said: ...

@say("Deleted template {name}", "删除了模板 {name}")
def template_deleted(name: str) -> Said: ...
