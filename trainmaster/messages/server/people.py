"""What is said of people: signing in, passwords, sessions, tokens, tickets. What is said of rights is in `access`."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, say
from trainmaster.messages.said import Said

# --- signing in

@say("User name or password is wrong", "用户名或密码错误", "Check both. On the server's own machine a new password can be set with: tm password", "请检查两者。在服务器本机上可以用 tm password 设置新密码。")
def name_or_password_wrong() -> Said: ...

@say("Too many wait here to sign in; another one took this place", "此处等待登录的人过多，您的位置已让给别人", "Wait, then try again.", "请稍候再试。")
def too_many_sign_ins() -> Said: ...

@say("You are not signed in, or the session has ended", "您没有登录，或登录已失效", "Sign in again.", "请重新登录。")
def session_ended() -> Said: ...

@say("There is no user {name}", "没有用户 {name}", "Names are case-sensitive.", "用户名区分大小写。")
def no_such_user(name: str) -> Said: ...


# --- passwords

@say("The old password is wrong", "旧密码错误", "On the server's own machine no old password is needed: tm password", "在服务器本机上运行 tm password 不需要旧密码。")
def old_password_wrong() -> Said: ...

@say("The new password is not acceptable: {count:problem|problems}", "新密码不可用：{count} 个问题", "Mend the fields listed and submit again.", "修正列出的字段后重新提交。")
def password_not_acceptable(count: Count) -> Said: ...

@say("must have {least} to {most} characters", "应有 {least} 至 {most} 个字符", "Use several words.", "请用几个词组成密码。")
def length(least: int, most: int) -> Said: ...

@say("must not contain the user name", "不能包含用户名", "Use several unrelated words.", "请用几个不相关的词组成密码。")
def guessable() -> Said: ...

@say("must differ from the old password", "应与旧密码不同", "Choose another one.", "请换一个密码。")
def same() -> Said: ...


# --- tokens

@say("The token is not known here, or has expired", "令牌无效或已过期", "Create a token with: tm token create NAME", "用 tm token create NAME 创建令牌。")
def token_not_known() -> Said: ...

@say("You already have {count:token|tokens}", "您已有 {count} 个令牌", "Delete the ones you no longer use.", "请删除不再使用的令牌。")
def too_many_tokens(count: Count) -> Said: ...

@say("There is no token {id}", "没有令牌 {id}", "The list of tokens shows their ids.", "令牌列表中有每个令牌的 ID。")
def no_such_token(id: str) -> Said: ...


# --- tickets

@say("{most:download was begun and not fetched|downloads were begun and not fetched}", "有 {most} 个下载已开始但未被取走", "Wait half a minute.", "请等待半分钟。")
def too_many_tickets(most: Count) -> Said: ...

@say("The ticket in the address is used up, too old, or for another address", "地址中的票据已用过、已过期，或属于其他地址", "Go back to the console and begin the download there again.", "请回到控制台重新开始下载。")
def ticket_not_good() -> Said: ...
