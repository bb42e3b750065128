"""What notifications say, in the console, by e-mail and to webhooks; and what is wrong with addresses, codes, webhooks."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Moment, Names, Seconds, say
from trainmaster.messages.said import Said

# --- what happened

@say("Job {job} succeeded in {run_s}", "任务 {job} 运行成功，用时 {run_s}")
def notice_succeeded(job: str, run_s: Seconds) -> Said: ...

@say("Job {job} was stopped by {by}", "任务 {job} 已被 {by} 停止")
def notice_stopped(job: str, by: str) -> Said: ...

@say("Job {job} was stopped", "任务 {job} 已停止")
def notice_stopped_itself(job: str) -> Said: ...

@say("Job {job} was stopped at its time limit of {limit_s}", "任务 {job} 达到 {limit_s} 的运行时限，已停止")
def notice_expired(job: str, limit_s: Seconds) -> Said: ...

@say("Job {job} was stopped at its time limit", "任务 {job} 达到运行时限，已停止")
def notice_expired_then(job: str) -> Said: ...

@say("Job {job} failed", "任务 {job} 失败")
def notice_failed(job: str) -> Said: ...

@say("Job {job} was preempted and is queued again", "任务 {job} 被抢占，已重新排队")
def notice_preempted(job: str) -> Said: ...

@say("Job {job} is still queued: it was expected to start by {by}", "任务 {job} 仍在排队：原预计最晚于 {by} 开始")
def notice_waits(job: str, by: Moment) -> Said: ...

@say("Job {job} holds {gpus:GPU that has|GPUs that have} done nothing for {idle_s}", "任务 {job} 占用的 {gpus} 张加速卡已有 {idle_s} 没有负载")
def notice_idle(job: str, gpus: Count, idle_s: Seconds) -> Said: ...

@say("Job {job} reaches its time limit in {left_s}", "任务 {job} 还有 {left_s} 达到运行时限")
def notice_limit(job: str, left_s: Seconds) -> Said: ...

@say("Webhook {name} is switched off: {failures:delivery|deliveries} in a row failed, the last one with: {error}", "Webhook {name} 已停用：连续 {failures} 次投递失败，最后一次：{error}")
def notice_webhook_off(name: str, failures: Count, error: Said) -> Said: ...

@say("This notification can no longer be read", "这条通知已无法读取", "tm doctor looks for damage of the database.", "用 tm doctor 检查数据库是否损坏。")
def notice_damaged() -> Said: ...

@say("This is a test of webhook {name}", "这是 Webhook {name} 的测试消息")
def notice_test(name: str) -> Said: ...


# --- mails

@say("{count:notification|notifications}", "{count} 条通知")
def mail_subject(count: Count) -> Said: ...

@say("Confirm your e-mail address", "请确认您的邮箱地址")
def mail_code_subject() -> Said: ...

@say("Your code is {code}", "您的验证码是 {code}", "Type it in the console under Settings, Notifications. It is good for {good_s}.", "请在控制台“设置”的“通知”页填写，{good_s} 内有效。")
def mail_code(code: str, good_s: Seconds) -> Said: ...

@say("Somebody who is signed in as {user} gave this address", "登录用户 {user} 填写了此邮箱", "If that was not you, do nothing: nothing more is sent here.", "如果不是您本人操作，请忽略此邮件，之后不会再向此邮箱发信。")
def mail_code_why(user: str) -> Said: ...

@say("Which notifications come by e-mail: {link}", "设置通过邮件接收哪些通知：{link}")
def mail_footer(link: str) -> Said: ...

@say("{count:more notification|more notifications}: {link}", "另有 {count} 条通知：{link}")
def mail_more(count: Count, link: str) -> Said: ...


# --- what is wrong with settings

@say("The notification settings cannot be stored", "无法保存通知设置", "Fix the fields listed.", "请修正列出的字段。")
def notice_settings_not_accepted() -> Said: ...

@say("The notifications cannot be listed or marked", "无法列出或标记通知", "Fix the fields listed.", "请修正列出的字段。")
def notices_not_answerable() -> Said: ...

@say("There is no kind of notification {kind}", "没有通知类型 {kind}", "Choose one of: {known}", "请从以下类型中选择：{known}")
def no_such_notice_kind(kind: str, known: Names) -> Said: ...

@say("There is no notification {id}", "没有通知 {id}", "tm notify list shows yours.", "用 tm notify list 查看您的通知。")
def no_such_notice(id: str) -> Said: ...

@say("must be an e-mail address", "应为邮箱地址", "Write it like ann@example.org, in plain letters.", "请写成 ann@example.org 这样的形式，只用 ASCII 字符。")
def not_an_address() -> Said: ...

@say("This server sends no e-mail", "此服务器不发送邮件", "An administrator sets `host` and `sender` in [mail] of config.toml.", "请管理员在 config.toml 的 [mail] 中设置 `host` 和 `sender`。")
def mail_not_set_up() -> Said: ...

@say("No address waits for a code", "没有待验证的邮箱", "Give the address again; a code is good for {good_s}.", "请重新填写邮箱；验证码 {good_s} 内有效。")
def no_code_asked(good_s: Seconds) -> Said: ...

@say("The code is wrong", "验证码错误", "{left:try is|tries are} left; then a new code is needed.", "还可尝试 {left} 次，之后需要重新获取验证码。")
def code_wrong(left: Count) -> Said: ...

@say("Too many codes were asked for", "获取验证码过于频繁", "At most {most} an hour are sent; wait and try again.", "每小时最多发送 {most} 次，请稍后再试。")
def too_many_codes(most: int) -> Said: ...

@say("The mail could not be sent: {error}", "邮件发送失败：{error}", "Check the address; if it is right, ask an administrator to check [mail] of config.toml.", "请检查邮箱地址；若地址无误，请管理员检查 config.toml 的 [mail]。")
def mail_not_sent(error: Said | str) -> Said: ...


# --- webhooks

@say("The webhook cannot be stored: {count:problem|problems}", "无法保存 Webhook：{count} 个问题", "Fix the fields listed.", "请修正列出的字段。")
def webhook_not_accepted(count: Count) -> Said: ...

@say("There is no webhook {id}", "没有 Webhook {id}", "tm notify webhook list shows those that you may change.", "用 tm notify webhook list 查看可以修改的 Webhook。")
def no_such_webhook(id: str) -> Said: ...

@say("must be an address that begins with https://", "应为以 https:// 开头的地址", "Write for example https://example.org/hook. An administrator allows http:// with http = true in [webhooks] of config.toml.", "例如 https://example.org/hook。管理员可在 config.toml 的 [webhooks] 中用 http = true 允许 http://。")
def webhook_not_https() -> Said: ...

@say("must be an address with the name of a server", "应为包含服务器名的地址", "Write for example https://example.org/hook.", "例如 https://example.org/hook。")
def webhook_not_url() -> Said: ...

@say("must not hold a user name or a password", "不能包含用户名或密码", "Leave out what stands before the @; the receiver checks the signature.", "请去掉 @ 之前的部分；接收方应校验签名。")
def webhook_with_credentials() -> Said: ...

@say("must have no part behind #", "不能包含 # 之后的部分", "Leave it out: it is never sent.", "请去掉：它不会被发送。")
def webhook_with_fragment() -> Said: ...

@say("{host} is {address}, to which webhooks may not be sent", "{host} 的地址是 {address}，不允许向其发送 Webhook", "Choose a receiver with a public address, or ask an administrator to allow this network in [webhooks] of config.toml.", "请换用有公网地址的接收方，或请管理员在 config.toml 的 [webhooks] 中允许该网络。")
def webhook_address_refused(host: str, address: str) -> Said: ...

@say("Webhooks may not be sent to {address}", "不允许向 {address} 发送 Webhook", "Choose a receiver with a public address, or ask an administrator to allow this network in [webhooks] of config.toml.", "请换用有公网地址的接收方，或请管理员在 config.toml 的 [webhooks] 中允许该网络。")
def webhook_number_refused(address: str) -> Said: ...

@say("{host} has no address", "{host} 没有解析到地址", "Check the name.", "请检查名称。")
def webhook_host_unknown(host: str) -> Said: ...

@say("There are {most} webhooks already", "已有 {most} 个 Webhook", "Delete one that is not needed.", "请删除不再需要的 Webhook。")
def too_many_webhooks(most: int) -> Said: ...

@say("Too many tests", "测试过于频繁", "At most {most} a minute are sent; wait and try again.", "每分钟最多 {most} 次，请稍后再试。")
def too_many_tests(most: int) -> Said: ...

@say("at least one kind of notification", "至少选择一种通知", "Choose what the webhook is told of.", "请选择要发送到此 Webhook 的通知。")
def webhook_of_no_kind() -> Said: ...


# --- why a delivery did not arrive

@say("no answer within {seconds_s}", "{seconds_s} 内没有响应")
def delivery_timed_out(seconds_s: Seconds) -> Said: ...

@say("no connection to {host}", "无法连接 {host}")
def delivery_not_connected(host: str) -> Said: ...

@say("the certificate of {host} is not trusted", "{host} 的证书不受信任")
def delivery_not_trusted(host: str) -> Said: ...

@say("status {status}", "状态码 {status}")
def delivery_refused(status: int) -> Said: ...

@say("a redirect (status {status}), which is not followed", "重定向（状态码 {status}），不会跟随")
def delivery_redirected(status: int) -> Said: ...

@say("the answer is no HTTP", "响应不是 HTTP")
def delivery_no_http() -> Said: ...

@say("the webhook was switched off", "Webhook 已停用")
def delivery_switched_off() -> Said: ...

@say("there were more than {most} waiting", "等待投递的超过 {most} 条")
def delivery_too_many(most: int) -> Said: ...

@say("who made it may no longer see this", "创建者已无权查看该内容")
def delivery_not_visible() -> Said: ...

@say("there is no confirmed address any more", "已没有确认过的邮箱")
def delivery_no_address() -> Said: ...

@say("the mail server does not answer", "邮件服务器没有响应")
def mail_server_silent() -> Said: ...

@say("the mail server refused: {words}", "邮件服务器拒绝：{words}")
def mail_server_refused(words: str) -> Said: ...

@say("the mail server refused user name and password", "邮件服务器拒绝了用户名和密码")
def mail_server_sign_in() -> Said: ...

@say("the mail server offers no encryption (STARTTLS)", "邮件服务器不支持加密（STARTTLS）")
def mail_server_no_tls() -> Said: ...

@say("the certificate of the mail server is not trusted", "邮件服务器的证书不受信任")
def mail_server_not_trusted() -> Said: ...


# --- what the audit is told

@say("Changed the notification settings", "修改了通知设置")
def notice_settings_changed() -> Said: ...

@say("Asked for a code to confirm the address {address}", "为邮箱 {address} 获取了验证码")
def address_asked(address: str) -> Said: ...

@say("Confirmed the address {address}", "确认了邮箱 {address}")
def address_confirmed(address: str) -> Said: ...

@say("Removed the address {address}", "移除了邮箱 {address}")
def address_removed(address: str) -> Said: ...

@say("Created webhook {name} ({id}) to {host}", "新建了 Webhook {name}（{id}），发往 {host}")
def webhook_made(name: str, id: str, host: str) -> Said: ...

@say("Changed webhook {name} ({id})", "修改了 Webhook {name}（{id}）")
def webhook_changed(name: str, id: str) -> Said: ...

@say("Deleted webhook {name} ({id})", "删除了 Webhook {name}（{id}）")
def webhook_deleted(name: str, id: str) -> Said: ...

@say("Sent a test to webhook {name} ({id})", "向 Webhook {name}（{id}）发送了测试")
def webhook_tested(name: str, id: str) -> Said: ...

@say("Webhook {name} ({id}) was switched off after {failures:failed delivery|failed deliveries}", "Webhook {name}（{id}）在 {failures} 次投递失败后停用")
def webhook_off(name: str, id: str, failures: Count) -> Said: ...


# --- settings of the server

@say("must be an e-mail address when `host` is set", "设置了 `host` 时应填邮箱地址", "Write the address that mails come from, for example trainmaster@example.org.", "请填写发信地址，例如 trainmaster@example.org。")
def sender_missing() -> Said: ...

@say("must be a port from 1 to 65535", "应为 1 至 65535 的端口", "465 with tls = \"tls\", 587 with \"starttls\" are usual.", "常用：tls = \"tls\" 时 465，\"starttls\" 时 587。")
def not_a_port() -> Said: ...

@say("must be an address that begins with http:// or https://", "应为以 http:// 或 https:// 开头的地址", "Write the console's address as people type it, for example https://train.example.org.", "请填写用户访问控制台的地址，例如 https://train.example.org。")
def not_a_link() -> Said: ...

@say("must be networks such as 10.0.0.0/8", "应为网段，例如 10.0.0.0/8", "Write addresses or networks in CIDR form.", "请写 IP 地址或 CIDR 网段。")
def not_networks() -> Said: ...

@say("`user` and `password_file` stand together", "`user` 与 `password_file` 必须同时设置", "Set user and password_file, or neither.", "请同时设置 user 和 password_file，或都不设置。")
def password_without_user() -> Said: ...
