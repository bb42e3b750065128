"""What is said of requests themselves: bodies, addresses, credentials, turns. Whatever a door refuses before it knows
what is asked.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, Seconds, say
from trainmaster.messages.said import Said

CONTRACT = "See the contract at /api/v1/openapi.json."
CONTRACT_ZH = "请参见接口约定 /api/v1/openapi.json。"

# --- bodies

@say("The request is not valid: {count:problem|problems}", "请求有误：{count} 个问题", "Fix the fields listed and send it again.", "请修正列出的字段后重新发送。")
def request_not_valid(count: Count) -> Said: ...

@say("The request is not valid: {listed} problems are listed, and there are more", "请求有误：列出其中 {listed} 个问题，还有更多", "Fix the fields listed and send it again.", "请修正列出的字段后重新发送。")
def request_not_valid_more(listed: int) -> Said: ...

@say("The body is not valid JSON", "请求体不是合法的 JSON", "Send one JSON document in UTF-8.", "请以 UTF-8 发送一个 JSON 文档。")
def body_not_json() -> Said: ...

@say("is not valid JSON: {error}", "不是合法的 JSON：{error}", "Send one JSON document in UTF-8.", "请以 UTF-8 发送一个 JSON 文档。")
def json_invalid(error: Said | str) -> Said: ...

@say("it is nested too deeply", "嵌套过深")
def nested_too_deeply() -> Said: ...

@say("it is not UTF-8", "不是 UTF-8")
def not_utf8() -> Said: ...

@say("The body is not a JSON object", "请求体不是 JSON 对象", "Send {{...}}.", "请发送 {{...}}。")
def body_not_object() -> Said: ...

@say("must be a JSON object", "应为 JSON 对象", "Send {{...}}.", "请发送 {{...}}。")
def must_be_object() -> Said: ...

@say("The body has more than {values:value|values}", "请求体超过 {values} 个值", "Send less at once.", "请分几次发送。")
def too_many_values_in_body(values: Count) -> Said: ...

@say("is nested more than {levels:level|levels} deep", "嵌套超过 {levels} 层", "Use less nesting.", "请减少嵌套。")
def nested_deeper_than(levels: Count) -> Said: ...

@say("is given twice", "出现了两次", "Keep one of them.", "请只保留一个。")
def given_twice() -> Said: ...


# What the framework finds in queries, headers and bodies, by its own names for it and their arguments (pydantic's error
# types).

@say("is required", "必填", CONTRACT, CONTRACT_ZH)
def missing() -> Said: ...

@say("is unknown", "未知", CONTRACT, CONTRACT_ZH)
def extra_forbidden() -> Said: ...

@say("must be at least {ge}", "应不小于 {ge}", CONTRACT, CONTRACT_ZH)
def greater_than_equal(ge: float) -> Said: ...

@say("must be greater than {gt}", "应大于 {gt}", CONTRACT, CONTRACT_ZH)
def greater_than(gt: float) -> Said: ...

@say("must be at most {le}", "应不大于 {le}", CONTRACT, CONTRACT_ZH)
def less_than_equal(le: float) -> Said: ...

@say("must be less than {lt}", "应小于 {lt}", CONTRACT, CONTRACT_ZH)
def less_than(lt: float) -> Said: ...

@say("must be {expected}", "应为 {expected}", CONTRACT, CONTRACT_ZH)
def literal_error(expected: str) -> Said: ...

@say("must be {expected}", "应为 {expected}", CONTRACT, CONTRACT_ZH)
def enum(expected: str) -> Said: ...

@say("must have at least {min_length:character|characters}", "至少 {min_length} 个字符", CONTRACT, CONTRACT_ZH)
def string_too_short(min_length: Count) -> Said: ...

@say("may have at most {max_length:character|characters}", "最多 {max_length} 个字符", CONTRACT, CONTRACT_ZH)
def string_too_long(max_length: Count) -> Said: ...

@say("must match {pattern}", "应符合 {pattern}", CONTRACT, CONTRACT_ZH)
def string_pattern_mismatch(pattern: str) -> Said: ...

@say("must have at least {min_length:item|items}", "至少 {min_length} 项", CONTRACT, CONTRACT_ZH)
def too_short(min_length: Count) -> Said: ...

@say("may have at most {max_length:item|items}", "最多 {max_length} 项", CONTRACT, CONTRACT_ZH)
def list_too_long(max_length: Count) -> Said: ...

@say("must be a whole number", "应为整数", CONTRACT, CONTRACT_ZH)
def int_parsing() -> Said: ...

@say("must be a whole number", "应为整数", CONTRACT, CONTRACT_ZH)
def int_type() -> Said: ...

@say("must be a whole number", "应为整数", CONTRACT, CONTRACT_ZH)
def int_from_float() -> Said: ...

@say("must be a number", "应为数字", CONTRACT, CONTRACT_ZH)
def float_parsing() -> Said: ...

@say("must be a number", "应为数字", CONTRACT, CONTRACT_ZH)
def float_type() -> Said: ...

@say("must be a finite number", "应为有限的数", CONTRACT, CONTRACT_ZH)
def finite_number() -> Said: ...

@say("must be true or false", "应为 true 或 false", CONTRACT, CONTRACT_ZH)
def bool_parsing() -> Said: ...

@say("must be true or false", "应为 true 或 false", CONTRACT, CONTRACT_ZH)
def bool_type() -> Said: ...

@say("must be text", "应为文本", CONTRACT, CONTRACT_ZH)
def string_type() -> Said: ...

@say("must be a list", "应为列表", CONTRACT, CONTRACT_ZH)
def list_type() -> Said: ...

@say("must be an object", "应为对象", CONTRACT, CONTRACT_ZH)
def dict_type() -> Said: ...

@say("must be an object", "应为对象", CONTRACT, CONTRACT_ZH)
def model_attributes_type() -> Said: ...

@say("must be an object", "应为对象", CONTRACT, CONTRACT_ZH)
def model_type() -> Said: ...

FRAMEWORK = frozenset({
    "missing",
    "extra_forbidden",
    "greater_than_equal",
    "greater_than",
    "less_than_equal",
    "less_than",
    "literal_error",
    "enum",
    "string_too_short",
    "string_too_long",
    "string_pattern_mismatch",
    "too_short",
    "too_long",
    "int_parsing",
    "int_type",
    "int_from_float",
    "float_parsing",
    "float_type",
    "finite_number",
    "bool_parsing",
    "bool_type",
    "string_type",
    "list_type",
    "dict_type",
    "model_attributes_type",
    "model_type",
})
"""Those codes: the framework's own."""

RENAMED = {"too_long": "list_too_long"}
"""What the framework calls otherwise: its name means something else here."""

@say("does not follow the contract: {detail}", "不符合接口约定：{detail}", CONTRACT, CONTRACT_ZH)
def against_the_contract(detail: str) -> Said: ...

@say("must not be null", "不能为 null", "Leave it out.", "请去掉它。")
def not_null() -> Said: ...

@say("The request is larger than this server accepts", "请求超过服务器允许的大小", "Send at most {most}.", "请最多发送 {most}。")
def body_too_large(most: str) -> Said: ...


# --- addresses, heads and connections

@say("There is nothing at this address", "此地址没有内容", CONTRACT, CONTRACT_ZH)
def no_such_address() -> Said: ...

@say("Method not allowed", "此地址不支持该方法", "See the Allow header.", "请参见 Allow 头。")
def method_not_known() -> Said: ...

@say("The request was refused: {detail}", "请求被拒绝：{detail}")
def refused_by_http(detail: str) -> Said: ...

@say("There is no file {path}", "没有文件 {path}", "Load the page again; the console was updated.", "请重新加载页面；控制台已更新。")
def no_console_file(path: str) -> Said: ...

@say("The address is longer than {kib} KiB", "地址超过 {kib} KiB", "Put what is long into the body.", "把较长的内容放进请求体。")
def address_too_long(kib: int) -> Said: ...

@say("The address is not UTF-8", "地址不是 UTF-8", "Encode it as UTF-8, with % before each byte.", "请按 UTF-8 编码，每个字节前写 %。")
def address_not_utf8() -> Said: ...

@say("The request headers are larger than {kib} KiB or have more than {lines:line|lines}", "请求头超过 {kib} KiB 或 {lines} 行", "Send fewer or shorter headers; delete the cookies of this address.", "请减少或缩短请求头；删除此地址的 Cookie。")
def head_too_large(kib: int, lines: Count) -> Said: ...

@say("The request headers did not arrive within {limit_s}", "请求头没有在 {limit_s} 内到达", "Send the request again without pauses.", "请重新发送，中间不要停顿。")
def head_too_slow(limit_s: Seconds) -> Said: ...

@say("The request body did not arrive within {limit_s}", "请求体没有在 {limit_s} 内到达", "Send the request again without pauses.", "请重新发送，中间不要停顿。")
def body_too_slow(limit_s: Seconds) -> Said: ...

@say("This is not an HTTP request", "这不是 HTTP 请求", "Use HTTP/1.1; the address begins with http://.", "请使用 HTTP/1.1；地址以 http:// 开头。")
def not_http() -> Said: ...

@say("More than {most:request is|requests are} waiting on one connection", "一个连接上有超过 {most} 个请求在等待", "Wait for the answers.", "请等待响应。")
def too_many_ahead(most: Count) -> Said: ...

@say("The request has more than one Host header", "请求有多个 Host 头", "Send only one.", "请只发送一个。")
def two_hosts() -> Said: ...

@say("The Host header is not an address of this server", "Host 头不是此服务器的地址", "Use the address that `trainmaster serve` printed, or add the name to server.allowed_hosts.", "使用 `trainmaster serve` 显示的地址，或把该名称加入 server.allowed_hosts。")
def not_our_host() -> Said: ...

@say("The request comes from another site", "请求来自其他网站", "Use the console at the server's own address.", "请在服务器自己的地址使用控制台。")
def from_another_site() -> Said: ...


# --- credentials

@say("You are not signed in", "您没有登录", "Sign in, or send: Authorization: Bearer <token>", "请登录，或发送：Authorization: Bearer <token>")
def nobody_signed_in() -> Said: ...

@say("Only bearer tokens are accepted", "只支持 bearer 令牌", "Send: Authorization: Bearer <token>", "请发送：Authorization: Bearer <token>")
def only_bearer_tokens() -> Said: ...

@say("The session cookie came without its key", "收到了会话的 Cookie，但缺少会话密钥", "Sign in to the console again. Programs send: Authorization: Bearer <token>", "请重新登录控制台。程序请发送：Authorization: Bearer <token>")
def cookie_without_key() -> Said: ...

@say("Only browser sessions need download tickets", "只有浏览器会话才需要下载票据", "Send: Authorization: Bearer <token>", "请发送：Authorization: Bearer <token>")
def tickets_are_for_browsers() -> Said: ...


# --- turns

@say("You already have {places:request|requests} in progress or waiting", "您已有 {places} 个请求正在处理或等待", "Wait for their answers before you send more.", "请等它们得到响应后再发送。")
def too_much_work(places: Count) -> Said: ...

@say("You already have {places:request|requests} for logs and curves in progress or waiting", "您已有 {places} 个日志或曲线请求正在处理或等待", "Close some pages that show logs or curves.", "请关闭一些显示日志或曲线的页面。")
def too_many_looks(places: Count) -> Said: ...


# --- the server itself

@say("Internal server error (id {mark})", "服务器内部错误（编号 {mark}）", "Look for {mark} in the server's log and report it.", "请在服务器日志中查找 {mark}，并反馈此问题。")
def internal(mark: str) -> Said: ...


# --- bodies of several jobs, and of those who enter a task

@say("The batch is not valid", "批次有误", "Fix the fields listed.", "请修正列出的字段。")
def batch_not_valid() -> Said: ...

@say("is unknown", "未知", "Send {{items: [...]}}.", "请发送 {{items: [...]}}。")
def not_in_a_batch() -> Said: ...

@say("must be a list of objects", "应为对象的列表", "Send {{items: [{{spec: {{...}}}}, ...]}}.", "请发送 {{items: [{{spec: {{...}}}}, ...]}}。")
def batch_not_a_list() -> Said: ...

@say("The change is not valid", "修改无效", "Fix the fields listed.", "请修正列出的字段。")
def change_not_valid() -> Said: ...

@say("The message is not valid", "消息有误", "See the problem listed.", "请参见所列的问题。")
def message_not_valid() -> Said: ...

@say("is longer than {kib} KiB", "超过 {kib} KiB", "Put long input into a file.", "请把较长的内容写进文件。")
def command_too_long(kib: int) -> Said: ...

@say("has no program, or an argument with a zero byte", "没有程序名，或某个参数含有零字节", "Name a program.", "请写明要运行的程序。")
def command_without_program() -> Said: ...

@say("The server is shutting down; sessions inside replicas were closed", "服务器正在关闭；副本中的会话已结束", "Enter again once the server answers.", "服务器恢复响应后请重新进入。")
def server_stops() -> Said: ...

@say("is on an unknown channel", "位于未知的通道上", "Send bytes on channel 0, 4 or 255.", "请在通道 0、4 或 255 上发送字节。")
def no_such_channel() -> Said: ...

@say("was not understood: {why}", "无法理解：{why}", "Send: {example}", "请发送：{example}")
def message_not_understood(why: Said | str, example: str) -> Said: ...

@say("There is no {path} here", "这里没有 {path}", "Use one of these folders: {folders}.", "请使用这些文件夹之一：{folders}。")
def no_such_folder(path: str, folders: Names) -> Said: ...
