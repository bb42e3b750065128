"""What is said of coming in otherwise than with a name and a password: by an invitation, through a sign-in provider;
and of public keys.
"""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Moment, Names, Role, say
from trainmaster.messages.said import Said

# --- invitations

@say("The invitation cannot be created: {count:problem|problems}", "无法创建邀请：{count} 个问题", "Fix the problems listed and submit again.", "请修正列出的问题后重新提交。")
def invitation_not_accepted(count: Count) -> Said: ...

@say("must be between 1 minute and {most:day|days}", "应在 1 分钟至 {most} 天之间", "For example 7d.", "例如 7d。")
def invitation_lasts(most: Count) -> Said: ...

@say("Workspace {workspace} already has {count:open invitation|open invitations}", "工作空间 {workspace} 已有 {count} 个未使用的邀请", "Revoke those that are no longer needed.", "请撤销不再需要的邀请。")
def too_many_invitations(workspace: str, count: Count) -> Said: ...

@say("Workspace {workspace} has no invitation {id}", "工作空间 {workspace} 没有邀请 {id}", "List them with: tm workspace invitations {workspace}", "用 tm workspace invitations {workspace} 查看邀请。")
def no_such_invitation(id: str, workspace: str) -> Said: ...

@say("This invitation is not valid: it was used, has expired or was revoked", "此邀请无效：已被使用、已过期或已撤销", "Ask the person who sent you the link for another one.", "请向发送链接的人索取新的邀请。")
def invitation_over() -> Said: ...

@say("You are already a member of workspace {workspace} with the role {role}", "您已是工作空间 {workspace} 的成员，角色为 {role}", "The invitation stays open: pass the link on to the person it is meant for.", "邀请仍然有效：请把链接交给被邀请的人。")
def already_in(workspace: str, role: Role) -> Said: ...

@say("Invited somebody to workspace {workspace} as {role} ({id}, until {until})", "邀请一人加入工作空间 {workspace}，角色为 {role}（{id}，有效期至 {until}）")
def invitation_made(workspace: str, role: Role, id: str, until: Moment) -> Said: ...

@say("Revoked invitation {id} to workspace {workspace}", "撤销了加入工作空间 {workspace} 的邀请 {id}")
def invitation_revoked(id: str, workspace: str) -> Said: ...

@say("{user} joined workspace {workspace} as {role} by invitation {id} of {by}", "{user} 通过 {by} 的邀请 {id} 加入工作空间 {workspace}，角色为 {role}")
def joined(user: str, workspace: str, role: Role, id: str, by: str) -> Said: ...

@say("Created user {name}, who was invited by {by}", "新建了用户 {name}，由 {by} 邀请")
def user_came(name: str, by: str) -> Said: ...


# --- a sign-in provider

@say("Signing in with a password is switched off on this server", "此服务器已关闭密码登录", "Sign in with {provider}. On the server itself tm needs no password.", "请使用 {provider} 登录。在服务器本机上 tm 不需要密码。")
def password_off(provider: str) -> Said: ...

@say("This server has no sign-in provider", "此服务器没有配置身份提供方", "Sign in with a password, or set one up: [sign_in.oidc] in config.toml.", "请使用密码登录，或在 config.toml 的 [sign_in.oidc] 中配置。")
def no_provider() -> Said: ...

@say("The sign-in provider {issuer} cannot be used: {why}", "无法使用身份提供方 {issuer}：{why}", "Try again. If it goes on, an administrator looks at the provider and at [sign_in.oidc] in config.toml.", "请稍后重试。如仍不行，请管理员检查身份提供方和 config.toml 的 [sign_in.oidc]。")
def provider_not_usable(issuer: str, why: Said | str) -> Said: ...

@say("it does not answer ({error})", "没有响应（{error}）")
def provider_silent(error: str) -> Said: ...

@say("it answered {what} with status {status}", "对 {what} 的响应状态为 {status}")
def provider_refuses(what: str, status: int) -> Said: ...

@say("its answer to {what} cannot be read", "对 {what} 的响应无法读取")
def provider_unreadable(what: str) -> Said: ...

@say("its configuration names the issuer {found}, not {issuer}", "其配置中的 issuer 是 {found}，而不是 {issuer}")
def provider_is_another(found: str, issuer: str) -> Said: ...

@say("its configuration has no usable {field}", "其配置中没有可用的 {field}")
def provider_lacks(field: str) -> Said: ...

@say("The sign-in was not completed: {why}", "登录未完成：{why}", "Start again from the sign-in page.", "请回到登录页面重新开始。")
def sign_in_not_completed(why: Said | str) -> Said: ...

@say("it was begun in another browser, more than {most:minute|minutes} ago, or was completed already", "登录在另一个浏览器中开始、已超过 {most} 分钟，或已经完成")
def flow_not_good(most: Count) -> Said: ...

@say("the answer does not belong to this sign-in", "返回的结果不属于此次登录")
def state_differs() -> Said: ...

@say("the answer comes from another provider", "返回的结果来自其他身份提供方")
def issuer_differs() -> Said: ...

@say("the provider did not accept it ({error})", "身份提供方未接受（{error}）")
def code_refused(error: str) -> Said: ...

@say("the provider's proof is not valid ({error})", "身份提供方的身份证明无效（{error}）")
def proof_not_valid(error: str) -> Said: ...

@say("you refused, or the provider did ({error})", "您或身份提供方拒绝了登录（{error}）")
def provider_said_no(error: str) -> Said: ...

@say("{provider} does not say what you are called: the claim {claim} is missing", "{provider} 没有提供您的用户名：缺少声明 {claim}", "An administrator sets name_claim in [sign_in.oidc] to a claim that the provider gives.", "请管理员将 [sign_in.oidc] 的 name_claim 设为该身份提供方给出的声明。")
def claim_missing(provider: str, claim: str) -> Said: ...

@say("{provider} calls you {found}, which cannot be a user name here", "{provider} 提供的名称 {found} 不能用作用户名", "A name has 1 to 32 lower-case letters, digits and . _ -, and begins with a letter. An administrator creates an account and links it: tm user link NAME {subject}", "用户名为 1 至 32 个小写字母、数字和 . _ -，以字母开头。请管理员新建账户并关联：tm user link NAME {subject}")
def name_not_usable(provider: str, found: str, subject: str) -> Said: ...

@say("There is already a user {name}, who is not linked to your account at {provider}", "已有用户 {name}，尚未与您在 {provider} 的账户关联", "If that is you, ask an administrator to link it: tm user link {name} {subject}", "如果这是您本人，请管理员关联：tm user link {name} {subject}")
def name_of_another(name: str, provider: str, subject: str) -> Said: ...

@say("None of your groups at {provider} gives access to this server", "您在 {provider} 的用户组都没有此服务器的访问权限", "Ask an administrator to add you to a group, or for an invitation.", "请联系管理员加入用户组，或索取邀请。")
def no_group(provider: str) -> Said: ...

@say("The account {user} is already linked to {subject}", "账户 {user} 已与 {subject} 关联", "Remove that first: tm user unlink {user}", "请先解除关联：tm user unlink {user}")
def linked_already(user: str, subject: str) -> Said: ...

@say("The account {user} is not linked to the sign-in provider", "账户 {user} 未与身份提供方关联", "Link it with: tm user link {user} SUBJECT", "用 tm user link {user} SUBJECT 关联。")
def not_linked(user: str) -> Said: ...

@say("Your account is no longer linked to the sign-in provider", "您的账户已不再与身份提供方关联", "Ask an administrator.", "请联系管理员。")
def not_linked_any_more() -> Said: ...

@say("Signed in from {address} through {issuer}", "从 {address} 通过 {issuer} 登录")
def signed_in_through(address: str, issuer: str) -> Said: ...

@say("Created user {name}, who signed in through {issuer}", "新建了用户 {name}，通过 {issuer} 登录")
def user_came_through(name: str, issuer: str) -> Said: ...

@say("Groups at {issuer} gave {user} the role {role} in workspace {workspace}", "{issuer} 的用户组授予 {user} 在工作空间 {workspace} 中的角色 {role}")
def group_gave(user: str, workspace: str, role: str, issuer: str) -> Said: ...

@say("Groups at {issuer} no longer give {user} a role in workspace {workspace}", "{issuer} 的用户组不再授予 {user} 在工作空间 {workspace} 中的角色")
def group_took(user: str, workspace: str, issuer: str) -> Said: ...

@say("Groups at {issuer} made {user} an administrator of the platform", "{issuer} 的用户组将 {user} 设为平台管理员")
def group_made_admin(user: str, issuer: str) -> Said: ...

@say("Groups at {issuer} no longer make {user} an administrator of the platform", "{issuer} 的用户组不再将 {user} 设为平台管理员")
def group_unmade_admin(user: str, issuer: str) -> Said: ...

@say("Linked user {user} to {subject} at {issuer}", "将用户 {user} 与 {issuer} 的 {subject} 关联")
def user_linked(user: str, subject: str, issuer: str) -> Said: ...

@say("Unlinked user {user} from {issuer}; all sessions ended", "解除了用户 {user} 与 {issuer} 的关联；所有登录全部失效")
def user_unlinked(user: str, issuer: str) -> Said: ...


# --- settings

@say("must be an https address without query and fragment (http only for this computer itself)", "应为 https 地址，不带查询和片段（仅本机可用 http）", "Write the issuer exactly as the provider names it, for example https://id.example.org/realms/lab.", "请按身份提供方给出的 issuer 原样填写，例如 https://id.example.org/realms/lab。")
def not_an_issuer() -> Said: ...

@say("is missing", "缺失", "The provider gives it when you register this server there.", "在身份提供方注册此服务器时会得到它。")
def provider_setting_missing() -> Said: ...

@say("nobody could sign in: the password form is off and there is no sign-in provider", "没有任何登录方式：密码登录已关闭，且没有身份提供方", "Set password = true, or set up [sign_in.oidc].", "请设置 password = true，或配置 [sign_in.oidc]。")
def no_way_in() -> Said: ...

@say("must be workspaces with roles, such as vision:member or vision:admin, speech:viewer", "应为工作空间与角色，例如 vision:member 或 vision:admin, speech:viewer", "Choose from: {known}.", "可选：{known}。")
def not_places(known: Names) -> Said: ...

@say("must contain openid", "应包含 openid", "For example [\"openid\", \"profile\", \"email\"].", "例如 [\"openid\", \"profile\", \"email\"]。")
def no_openid_scope() -> Said: ...

@say("only one of client_secret_file and client_secret_env can be set", "client_secret_file 与 client_secret_env 只能设置一个", "Remove one of them.", "请删除其中一个。")
def two_secrets() -> Said: ...

@say("the client secret cannot be read: {why}", "无法读取客户端密钥：{why}", "Put it into that file or variable, on one line.", "请将它写入该文件或变量，占一行。")
def no_client_secret(why: str) -> Said: ...

@say("the certificates cannot be read: {why}", "无法读取证书：{why}", "Name a file with certificates in PEM format.", "请指定 PEM 格式的证书文件。")
def no_certificates(why: str) -> Said: ...


# --- public keys

@say("The public key cannot be stored", "无法保存公钥", "Fix the problem listed and submit again.", "请修正列出的问题后重新提交。")
def key_not_accepted() -> Said: ...

@say("This is a private key. It was not stored, but it has left your computer", "这是私钥。它没有被保存，但已离开您的计算机", "Never send it to anybody: create a new pair with ssh-keygen -t ed25519, and give the file that ends in .pub.", "请勿将私钥交给任何人：用 ssh-keygen -t ed25519 生成新的密钥对，并提供以 .pub 结尾的文件。")
def key_is_private() -> Said: ...

@say("is not a public key on one line: type, key, comment", "不是单行公钥：类型、密钥、注释", "Give the contents of the file that ends in .pub, for example ~/.ssh/id_ed25519.pub.", "请提供以 .pub 结尾的文件的内容，例如 ~/.ssh/id_ed25519.pub。")
def not_a_key() -> Said: ...

@say("keys of the type {kind} are not accepted", "不接受 {kind} 类型的公钥", "Use one of: {known}. Create one with: ssh-keygen -t ed25519", "请使用：{known}。可用 ssh-keygen -t ed25519 生成。")
def key_kind_unknown(kind: str, known: Names) -> Said: ...

@say("is an RSA key of {bits:bit|bits}", "是 {bits} 位的 RSA 公钥", "Use at least 2048 bits, or create one with: ssh-keygen -t ed25519", "请使用至少 2048 位的公钥，或用 ssh-keygen -t ed25519 生成。")
def key_too_short(bits: Count) -> Said: ...

@say("the comment has more than {most:character|characters}", "注释超过 {most} 个字符", "Shorten what is behind the key.", "请缩短密钥后面的文字。")
def key_comment_long(most: Count) -> Said: ...

@say("The key {fingerprint} is stored already", "公钥 {fingerprint} 已保存", "A key belongs to one account, once. Create another one with: ssh-keygen -t ed25519", "一个公钥只属于一个账户，且只保存一次。可用 ssh-keygen -t ed25519 生成新的。")
def key_known(fingerprint: str) -> Said: ...

@say("There is no key {fingerprint}", "没有公钥 {fingerprint}", "List yours with: tm ssh-key list", "用 tm ssh-key list 查看您的公钥。")
def no_such_key(fingerprint: str) -> Said: ...

@say("You already have {count:key|keys}", "您已有 {count} 个公钥", "Delete the ones you no longer use.", "请删除不再使用的公钥。")
def too_many_keys(count: Count) -> Said: ...

@say("Added public key {fingerprint} ({kind})", "添加了公钥 {fingerprint}（{kind}）")
def key_added(fingerprint: str, kind: str) -> Said: ...

@say("Deleted public key {fingerprint}", "删除了公钥 {fingerprint}")
def key_deleted(fingerprint: str) -> Said: ...
