"""What is said of config.toml and of what else says how a server is to be: unknown settings, wrong values, what
excludes each other.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- the file

@say("config.toml is not valid: {count:problem|problems}", "config.toml 有误：{count} 个问题", "Fix the settings listed.", "请修正列出的设置。")
def config_not_valid(count: Count) -> Said: ...

@say("config.toml would not be valid: {count:problem|problems}", "写入后 config.toml 将有误：{count} 个问题", "Fix the settings listed.", "请修正列出的设置。")
def config_would_not_be_valid(count: Count) -> Said: ...

@say("not valid TOML: {error}", "不是合法的 TOML：{error}", "Fix the line named, or remove the file.", "请修正所指的行，或删除该文件。")
def not_toml(error: str) -> Said: ...

@say("config.toml could not be edited automatically", "无法自动修改 config.toml", "Add this yourself:\n\n{lines}", "请自行写入以下内容：\n\n{lines}")
def config_not_extendable(lines: str) -> Said: ...

# --- sections and names

@say("unknown section", "未知的配置节", "Known sections: {known}.", "可用的配置节：{known}。")
def unknown_section(known: Names) -> Said: ...

@say("unknown setting", "未知的设置", "Known settings: {known}.", "可用的设置：{known}。")
def unknown_setting(known: Names) -> Said: ...

@say("must be a section", "应为配置节", "Write [{section}] on a line of its own ([[local.nodes]] for each kind of node).", "请单独写一行 [{section}]（每种节点写一个 [[local.nodes]]）。")
def must_be_section(section: str) -> Said: ...

@say("must be a list of sections", "应为配置节的列表", "Write [[engines]] on a line of its own, once for each.", "请为每个引擎单独写一行 [[engines]]。")
def must_be_sections() -> Said: ...

# --- values

@say("must be a list of text values", "应为文本的列表", "See the administration guide for this setting.", "请参见“系统管理”页中对该设置的说明。")
def must_be_texts() -> Said: ...

@say("must be a table of text values", "应为文本的表", "See the administration guide for this setting.", "请参见“系统管理”页中对该设置的说明。")
def must_be_table_of_texts() -> Said: ...

@say("must be a list of sections", "应为配置节的列表", "Write [[local.nodes]] on a line of its own, once for each kind of node.", "请为每种节点单独写一行 [[local.nodes]]。")
def must_be_node_sections() -> Said: ...

@say("must be a {kind}", "类型应为 {kind}", "See the administration guide for this setting.", "请参见“系统管理”页中对该设置的说明。")
def setting_of_wrong_type(kind: str) -> Said: ...

@say("must not be negative", "不能为负数", "Use 0 for no limit, or a positive number.", "用 0 表示不限制，或使用正数。")
def setting_negative() -> Said: ...

@say("must be one of {choices}", "应为 {choices} 之一", "For example {usual}.", "例如 {usual}。")
def setting_not_a_choice(choices: Names, usual: str) -> Said: ...

@say("{address} is not an address, nor an address with a port", "{address} 不是地址，也不是“地址:端口”", "Write how the other servers reach this one: 10.0.0.5, train-1.example.org:8470 or [fd00::5]:8470.", "请写其他服务器访问此服务器的方式，例如 10.0.0.5、train-1.example.org:8470 或 [fd00::5]:8470。")
def not_a_host(address: str) -> Said: ...

@say("must be an absolute path", "应为绝对路径", "Write the full path, beginning with /.", "请写以 / 开头的完整路径。")
def must_be_absolute_path() -> Said: ...

@say("must be addresses or networks, such as 192.0.2.7 or 10.0.0.0/8", "应为地址或网段，例如 192.0.2.7 或 10.0.0.0/8", "Write the address from which the reverse proxy connects.", "请写入反向代理连接时使用的地址。")
def must_be_networks() -> Said: ...

# --- engines

@say("must begin with a letter or digit and have at most 63 letters, digits and ._-", "应以字母或数字开头，只含字母、数字和 ._-，最多 63 个字符", "Use another name.", "请换一个名称。")
def engine_word_not_usable() -> Said: ...

@say("{name} is named in two engines", "{name} 出现在两个引擎中", "Name it in one of them only.", "请只在其中一个引擎中填写。")
def stands_in_two_engines(name: str) -> Said: ...

@say("must be one of {kinds}", "应为 {kinds} 之一", "Use one of them, or install the package that provides it.", "请使用其中之一，或安装提供该类型的软件包。")
def unknown_engine_kind(kinds: Names) -> Said: ...

@say("the packages {packages} both provide the kind {kind}", "软件包 {packages} 都提供类型 {kind}", "Remove all but one of them.", "请只保留其中一个。")
def engine_kind_of_two(kind: str, packages: Names) -> Said: ...

@say("the kind {kind} of package {package} cannot be loaded: {why}", "软件包 {package} 的类型 {kind} 无法加载：{why}", "Fix or update this package, or remove it (pip uninstall {package}).", "请修复、更新或卸载该软件包（pip uninstall {package}）。")
def engine_kind_broken(kind: str, package: str, why: Said | str) -> Said: ...

@say("{value} is not an EngineKind with the name {kind}", "{value} 不是名为 {kind} 的 EngineKind")
def not_an_engine_kind(value: str, kind: str) -> Said: ...

# --- a machine shown as two (--demo-cards)

@say("--demo-cards divides this node, and so does [local] {settings} in config.toml", "--demo-cards 会划分此节点，而 config.toml 的 [local] {settings} 也会划分", "Start without --demo-cards, or take these settings out of config.toml.", "请在启动时不加 --demo-cards，或从 config.toml 中删除这些设置。")
def demo_cards_and_own_division(settings: Names) -> Said: ...

@say("--demo-cards gives this node simulated GPUs, but no engine in config.toml runs jobs on it", "--demo-cards 让此节点显示模拟的加速卡，但 config.toml 中没有在此节点运行任务的引擎", "Start without --demo-cards, or use another --home.", "请在启动时不加 --demo-cards，或换一个 --home。")
def demo_cards_without_engine() -> Said: ...
