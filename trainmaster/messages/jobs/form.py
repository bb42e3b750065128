"""What is said of the structure of a job document and of its values, one by one: whatever can be judged without any
other field.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- the text

@say("This is not valid {format}: {detail}", "不是合法的 {format}：{detail}", "Fix line {line}.", "请修正第 {line} 行。")
def syntax(format: str, detail: Said, line: int) -> Said: ...

@say("The file is not UTF-8 text", "文件不是 UTF-8 文本", "Save it as UTF-8.", "请以 UTF-8 保存。")
def encoding() -> Said: ...

@say("This is larger than {maximum:byte|bytes}", "超过 {maximum} 字节", "Remove what is not part of the job.", "请删去不属于任务的内容。")
def too_large(maximum: Count) -> Said: ...

@say("This is nested more than {maximum:level|levels} deep", "嵌套超过 {maximum} 层", "Use less nesting.", "请减少嵌套。")
def too_deep(maximum: Count) -> Said: ...

@say("This has more than {maximum:value|values} (YAML aliases count as written out)", "超过 {maximum} 个值（YAML 别名按展开计算）", "Remove what is not part of the job, or use fewer aliases.", "请删去不属于任务的内容，或少用别名。")
def too_many_values(maximum: Count) -> Said: ...

@say("The key {key} is given twice", "字段 {key} 出现了两次", "Keep one of them.", "请只保留一个。")
def duplicate_key(key: str) -> Said: ...

@say("The YAML tag {tag} is not supported", "不支持 YAML 标签 {tag}", "Remove the tag.", "请去掉标签。")
def yaml_tag(tag: str) -> Said: ...

@say("There is no field {place}: {detail}", "没有字段 {place}：{detail}", "Write a path such as roles.0.parameters.lr.", "请使用如 roles.0.parameters.lr 的路径。")
def bad_set_path(place: str, detail: Said) -> Said: ...

@say("This file uses version 2 of the OpenPAI protocol; only version 1 can be read", "这是 OpenPAI 协议第 2 版的任务文件，平台只能读取第 1 版", "Convert it to version 1 (JSON with jobName, image and a list of taskRoles), or write it as a Trainmaster job file.", "请改写为第 1 版的 JSON（jobName、image、taskRoles 列表），或写成 Trainmaster 的任务文件。")
def pai_version_2() -> Said: ...

@say("The password of the registry for {image} stands in this file as plain text", "此文件中以明文写有 {image} 所在仓库的密码", "Take it out and change it, since others may have read the file. Store the new one: tm secret set REGISTRY, then type USER:PASSWORD. Then make an image: tm image create NAME --container {image} --secret REGISTRY, and write image: NAME.", "文件可能已被他人读到，请删去并更换该密码。请用 tm secret set REGISTRY 保存新密码（输入 用户名:密码），再生成镜像：tm image create NAME --container {image} --secret REGISTRY，并改写为 image: NAME。")
def pai_password_in_file(image: str) -> Said: ...

@say("The credentials of the registry for {image} are a secret here", "{image} 所在仓库的凭据在平台上是密钥", "Store them: tm secret set REGISTRY, then type USER:PASSWORD. Then make an image: tm image create NAME --container {image} --secret REGISTRY, and write image: NAME.", "请用 tm secret set REGISTRY 保存（输入 用户名:密码），再生成镜像：tm image create NAME --container {image} --secret REGISTRY，并改写为 image: NAME。")
def pai_auth_is_a_secret(image: str) -> Said: ...

@say("There is a comment in line {line}; JSON has no comments", "第 {line} 行有注释，而 JSON 没有注释", "Remove the comment, or write the file as YAML, where comments begin with #.", "请删除注释，或把文件写成 YAML（注释以 # 开头）。")
def json_comment(line: int) -> Said: ...

@say("There is no job file format {dialect}", "未知的任务文件格式 {dialect}", "Use one of {known}.", "请使用 {known} 之一。")
def unknown_dialect(dialect: str, known: Names) -> Said: ...


# --- where JSON and YAML are broken

@say("{error} at column {column}", "第 {column} 列：{error}")
def json_broken_at(error: str, column: int) -> Said: ...

@say("{name} is not a JSON number", "{name} 不是 JSON 的数")
def no_json_number(name: str) -> Said: ...

@say("there is no anchor &{anchor} above", "前面没有锚点 &{anchor}")
def no_yaml_anchor(anchor: str) -> Said: ...

@say("a key must be text", "键应为文本")
def yaml_key_not_text() -> Said: ...

@say("<< takes a mapping or a list of mappings", "<< 的值应为映射或映射的列表")
def yaml_merge_not_mapping() -> Said: ...

@say("there are several documents", "包含多个文档")
def several_yaml_documents() -> Said: ...

@say("unreadable", "无法读取")
def yaml_unreadable() -> Said: ...


# --- why there is no such place in it

@say("the path has an empty part or too many parts", "路径中有空的部分，或层级过多")
def path_empty_or_too_long() -> Said: ...

@say("{part} is not a place in a list", "{part} 不是列表中的位置")
def no_list_place(part: str) -> Said: ...

@say("the list has {count:item|items}", "列表有 {count} 项")
def list_has_items(count: Count) -> Said: ...

@say("{part} would be inside a single value", "{part} 位于单个值之内")
def inside_a_single_value(part: str) -> Said: ...


# --- structure

@say("This field is required", "缺少必填字段", "Fill in {field}.", "请填写 {field}。")
def required(field: str) -> Said: ...

@say("There is no field {field} here", "未知字段 {field}", "Remove it.", "请删除它。")
def unknown_key(field: str) -> Said: ...

@say("There is no field {field} here", "未知字段 {field}", "Did you mean {near}?", "是否想写 {near}？")
def unknown_key_near(field: str, near: str) -> Said: ...

@say("This must be text", "应为文本", "Write text, for example in quotes.", "请写成文本，例如加上引号。")
def not_text() -> Said: ...

@say("This must be a whole number", "应为整数", "Write a whole number such as 1.", "请写整数，例如 1。")
def not_integer() -> Said: ...

@say("This must be a number, not text", "应为数字，而不是文本", "Write {given} without quotes.", "请写 {given}，不加引号。")
def number_as_text(given: str) -> Said: ...

@say("This must be a number", "应为数字", "Write a number such as 0.5.", "请写数字，例如 0.5。")
def not_number() -> Said: ...

@say("This must be a finite number", "应为有限的数", "Write a number such as 0.1: infinity and NaN are not allowed here.", "请填写 0.1 这样的数：不能使用无穷大或 NaN。")
def not_finite() -> Said: ...

@say("This must be true or false", "应为 true 或 false", "Write true or false without quotes.", "请写 true 或 false，不加引号。")
def not_boolean() -> Said: ...

@say("This must be an object with named fields", "应为对象（键值对）", "Write it as {{name: value}}.", "请写成 {{键: 值}}。")
def not_object() -> Said: ...

@say("This must be a list", "应为列表", "Write it as a list: [...].", "请写成列表 [...]。")
def not_list() -> Said: ...

@say("This must be text, a number or true/false", "应为文本、数字或布尔值", "Write nested values as one text.", "请把嵌套的值写成一个文本。")
def not_scalar() -> Said: ...

@say("This cannot be written as JSON", "无法用 JSON 表示", "Use text, numbers, booleans, lists and objects.", "请使用文本、数字、布尔值、列表和对象。")
def not_json() -> Said: ...

@say("This cannot be null", "不能为空（null）", "Remove the field to use its default, or give it a value.", "请删除该字段以使用默认值，或填写一个值。")
def null_not_allowed() -> Said: ...

@say("This must be at least {minimum}", "不得小于 {minimum}", "Use {minimum} or more.", "请使用不小于 {minimum} 的值。")
def too_small(minimum: float) -> Said: ...

@say("This must be at most {maximum}", "不得大于 {maximum}", "Use {maximum} or less.", "请使用不大于 {maximum} 的值。")
def too_big(maximum: float) -> Said: ...

@say("This cannot be empty", "不能为空", "Give at least {minimum}.", "请至少写 {minimum} 项。")
def empty(minimum: Count) -> Said: ...

@say("This can have at most {maximum:character|characters}", "最多 {maximum} 个字符", "Shorten it.", "请缩短。")
def too_long(maximum: Count) -> Said: ...

@say("At most {maximum} are allowed here", "最多 {maximum} 项", "Remove some.", "请减少项数。")
def too_many(maximum: Count) -> Said: ...

@say("This must be one of {allowed}", "应为 {allowed} 之一", "Choose one of them.", "请选择其中之一。")
def not_one_of(allowed: Names) -> Said: ...

@say("This contains characters that are not valid Unicode", "包含无效的 Unicode 字符", "Remove them.", "请删除这些字符。")
def not_unicode() -> Said: ...

@say("This contains control characters", "包含控制字符", "Remove the invisible control characters.", "请删除不可见的控制字符。")
def control_characters() -> Said: ...

@say("This does not match the pattern {pattern}", "不符合规则 {pattern}", "Use only the characters that it allows.", "请只使用允许的字符。")
def bad_pattern(pattern: str) -> Said: ...


# --- names

@say("A name has 1 to 30 letters, digits, Chinese characters, - or _", "名称由 1 至 30 个字母、数字、汉字、- 或 _ 组成", "Change the name.", "请修改名称。")
def bad_name() -> Said: ...

@say("Only letters, digits and - . _ ~ are allowed", "只能使用字母、数字和 - . _ ~", "Remove all other characters.", "请删除其他字符。")
def bad_slug() -> Said: ...

@say("This looks like a job id (t and 32 hex digits)", "与任务 ID 的形式相同（t 加 32 位十六进制）", "Choose another name.", "请换一个名称。")
def slug_like_id() -> Said: ...

@say("The name of a sub-task has 1 to 63 letters, digits and - . _ ~", "子任务名称由字母、数字和 - . _ ~ 组成，最多 63 个字符", "Change the name.", "请修改名称。")
def bad_role_name() -> Said: ...

@say("Only letters, digits and . _ ~ are allowed", "只能使用字母、数字和 . _ ~", "Change the name.", "请修改名称。")
def bad_pai_name() -> Said: ...

@say("This must begin with a letter or digit and have at most 63 letters, digits and - . _", "由字母、数字和 - . _ 组成，以字母或数字开头，最多 63 个字符", "Change it.", "请修改。")
def bad_word() -> Said: ...

@say("This is not an image or environment name", "不是合法的镜像或环境名称", "Write a name such as default or registry/name:tag.", "请使用如 default 或 registry/name:tag 的名称。")
def bad_image() -> Said: ...

@say("A variable's name has letters, digits and _, and does not begin with a digit", "变量名由字母、数字和 _ 组成，不以数字开头", "Change the name.", "请修改变量名。")
def bad_env_name() -> Said: ...

@say("A parameter's name has letters, digits and _ - . /, and does not begin with -", "参数名由字母、数字和 _ - . / 组成，不以 - 开头", "Leave out the leading dashes; the platform adds them.", "请去掉开头的 --，平台会自动加上。")
def bad_parameter() -> Said: ...

@say("This must be sha256: and 64 hex digits", "应为 sha256: 加 64 位十六进制", "Use the digest that the upload returned.", "请使用上传后返回的摘要。")
def bad_digest() -> Said: ...

@say("Not a name, or NAME@VERSION", "应为名称，或 名称@版本", "Write for example digits, or digits@3.", "例如 digits 或 digits@3。")
def bad_reference(pattern: str) -> Said: ...

@say("Not a place of object storage", "应为对象存储中的位置", "Write the name of a storage connection, / and a prefix: team-data/images.", "写存储连接的名称、/ 和前缀，例如 team-data/images。")
def bad_stored_place(pattern: str) -> Said: ...

@say("The name {name} is used twice", "名称 {name} 重复", "Give each a name of its own.", "请使用不同的名称。")
def duplicate_name(name: str) -> Said: ...


# --- values

@say("{detail}", "{detail}", "Enter a number of MiB, or text such as 512MiB or 2GiB.", "请输入 MiB 数，或如 512MiB、2GiB 的文本。")
def bad_memory(detail: Said) -> Said: ...

@say("{detail}", "{detail}", "Enter a time such as 30m, 2h or 1h30m, or a number of seconds.", "请输入时长，例如 30m、2h、1h30m，或秒数。")
def bad_duration(detail: Said) -> Said: ...

@say("This is not a regular expression: {detail}", "不是合法的正则表达式：{detail}", "Fix the expression.", "请修正表达式。")
def bad_regex(detail: Said | str) -> Said: ...

@say("The expression has no named group", "表达式没有命名分组", "Name the group after its metric: loss=(?P<loss>[\\d.]+).", "请用指标名给分组命名，例如 loss=(?P<loss>[\\d.]+)。")
def regex_groups() -> Said: ...

@say("A repetition inside a repetition can take forever", "重复中嵌套重复，匹配可能极慢", "Remove one of the two + or *.", "请去掉一层 + 或 *。")
def regex_slow() -> Said: ...


# --- what is no size and no duration

@say("a list is not a memory size", "列表不是内存大小")
def list_no_memory_size() -> Said: ...

@say("an object is not a memory size", "对象不是内存大小")
def object_no_memory_size() -> Said: ...

@say("a list is not a time such as 30m", "列表不是时长")
def list_no_duration() -> Said: ...

@say("an object is not a time such as 30m", "对象不是时长")
def object_no_duration() -> Said: ...


# --- what RE2 does not know

@say("{error} (RE2 has no look-around and no back-references)", "{error}（RE2 不支持环视和反向引用）")
def re2_refuses(error: str) -> Said: ...
