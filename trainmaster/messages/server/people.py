"""What is said of people: signing in, passwords, sessions, tokens, tickets. What is said of rights is in `access`."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, Role, say
from trainmaster.messages.said import Said

# --- signing in

@say("Incorrect user name or password", "用户名或密码错误", "Check both. On the server itself, set a new password with: tm password", "请检查两者。在服务器上可以用 tm password 设置新密码。")
def name_or_password_wrong() -> Said: ...

@say("Too many people are signing in right now", "当前登录的人过多", "Wait a moment, then try again.", "请稍候再试。")
def too_many_sign_ins() -> Said: ...

@say("You are not signed in, or the session has ended", "您没有登录，或登录已失效", "Sign in again.", "请重新登录。")
def session_ended() -> Said: ...

@say("There is no session {id}", "没有会话 {id}", "tm session list shows where you are signed in.", "用 tm session list 查看已登录的浏览器。")
def no_such_session(id: str) -> Said: ...

@say("This account is locked", "此账户已锁定", "Ask an administrator.", "请联系管理员。")
def account_locked() -> Said: ...

@say("There is no user {name}", "没有用户 {name}", "Check the name. Administrators see all users with: tm user list", "请检查名称。管理员可用 tm user list 查看全部用户。")
def no_such_user(name: str) -> Said: ...


# --- accounts and members

@say("The account cannot be created: {count:problem|problems}", "无法新建账户：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def account_not_accepted(count: Count) -> Said: ...

@say("There is already a user {name}, or there was one", "已有或曾有用户 {name}", "Choose another name.", "请换一个名称。")
def user_name_taken(name: str) -> Said: ...

@say("A name has 1 to 32 lower-case letters, digits and . _ -, and begins with a letter", "名称为 1 至 32 个小写字母、数字和 . _ -，以字母开头", "Change the name.", "请修改名称。")
def bad_user_name() -> Said: ...

@say("The member cannot be stored", "无法保存该成员", "Fix the problem listed and submit again.", "请修正列出的问题后重新提交。")
def member_not_accepted() -> Said: ...

@say("Your role {role} in workspace {workspace} does not let you change its members", "您在工作空间 {workspace} 中的角色是 {role}，不能修改成员", "Ask an owner or admin of the workspace.", "请联系该工作空间的所有者或管理员。")
def role_not_enough(role: Role, workspace: str) -> Said: ...

@say("There is no role {role}", "没有角色 {role}", "Choose one of: {known}", "请从以下角色中选择：{known}")
def no_such_role(role: str, known: Names) -> Said: ...

@say("{user} is not a member of workspace {workspace}", "{user} 不是工作空间 {workspace} 的成员", "See who is: tm workspace show {workspace}", "用 tm workspace show {workspace} 查看成员。")
def not_a_member(user: str, workspace: str) -> Said: ...

@say("Your role in workspace {workspace} does not let you give or take away the role {role}", "您在工作空间 {workspace} 中的角色不能授予或收回 {role} 角色", "Ask an owner of the workspace.", "请联系该工作空间的所有者。")
def role_too_high(role: Role, workspace: str) -> Said: ...

@say("{name} has {count:job that has not ended|jobs that have not ended}", "{name} 有 {count} 个未结束的任务", "Say what becomes of them: stop them, or let them go on.", "请指明如何处理这些任务：停止，或继续运行。")
def jobs_not_ended(name: str, count: Count) -> Said: ...

@say("The account {name} cannot be locked or deleted", "账户 {name} 不能锁定或删除", "It is the one you are signed in with, or the one with which the server was set up.", "它是您正在使用的账户，或服务器初始化时的账户。")
def account_stays(name: str) -> Said: ...


# --- passwords

@say("Incorrect old password", "旧密码错误", "On the server itself, tm password needs no old password.", "在服务器上运行 tm password 不需要旧密码。")
def old_password_wrong() -> Said: ...

@say("The new password cannot be used: {count:problem|problems}", "新密码不可用：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def password_not_acceptable(count: Count) -> Said: ...

@say("must have {least} to {most} characters", "应有 {least} 至 {most} 个字符", "Use several words.", "请用几个词组成密码。")
def length(least: int, most: int) -> Said: ...

@say("must not contain the user name", "不能包含用户名", "Use several unrelated words.", "请用几个不相关的词组成密码。")
def guessable() -> Said: ...

@say("must differ from the old password", "应与旧密码不同", "Choose another password.", "请换一个密码。")
def same() -> Said: ...


# --- tokens

@say("The token is invalid or has expired", "令牌无效或已过期", "Create a token with: tm token create NAME", "用 tm token create NAME 创建令牌。")
def token_not_known() -> Said: ...

@say("The token cannot be created: {count:problem|problems}", "无法创建令牌：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def token_not_accepted(count: Count) -> Said: ...

@say("There is no scope {scope}. There are: {known}", "没有权限 {scope}。可用的有：{known}", "Choose from these.", "请从中选择。")
def no_such_scope(scope: str, known: Names) -> Said: ...

@say("A token needs at least one scope", "令牌至少需要一项权限", "Name one, or leave scopes out: the token then carries all that its user may.", "请至少指定一项；不指定时令牌拥有该用户的全部权限。")
def no_scopes() -> Said: ...

@say("The token that you use does not have the scope {scope} itself", "您使用的令牌本身没有权限 {scope}", "Leave it out, or sign in with your password.", "请去掉它，或用密码登录。")
def scope_beyond_yours(scope: str) -> Said: ...

@say("The token that you use is for workspace {workspace} only", "您使用的令牌只用于工作空间 {workspace}", "Choose this workspace, or sign in with your password.", "请选择该工作空间，或用密码登录。")
def workspace_beyond_yours(workspace: str) -> Said: ...

@say("The token that you use expires before that itself", "您使用的令牌本身会更早到期", "Choose a shorter time, or sign in with your password.", "请选择更短的有效期，或用密码登录。")
def longer_than_yours() -> Said: ...

@say("You already have {count:token|tokens}", "您已有 {count} 个令牌", "Delete the ones you no longer use.", "请吊销不再使用的令牌。")
def too_many_tokens(count: Count) -> Said: ...

@say("There is no token {id}", "没有令牌 {id}", "Choose one from the list of tokens.", "请从令牌列表中选择。")
def no_such_token(id: str) -> Said: ...

@say("Several ids begin with {beginning}: {some}", "有多个 ID 以 {beginning} 开头：{some}", "Give more characters of the id.", "请多写几位 ID。")
def several_ids(beginning: str, some: Names) -> Said: ...


# --- tickets

@say("{most:download was started but not fetched|downloads were started but not fetched}", "有 {most} 个下载已开始但尚未取走", "Wait half a minute.", "请等待半分钟。")
def too_many_tickets(most: Count) -> Said: ...

@say("The download link was already used, has expired, or belongs to another address", "此下载链接已用过、已过期，或属于其他地址", "Go back to the console and start the download again.", "请回到控制台重新开始下载。")
def ticket_not_good() -> Said: ...
