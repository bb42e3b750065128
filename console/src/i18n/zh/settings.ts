/** 设置：账号、令牌、外观。 */
export const settings = {
  settings: {
    title: "设置", tokens: "API 令牌", tokensHint: "供脚本和 SDK 使用：以 “Authorization: Bearer …” 发送。令牌拥有与您相同的权限。",
    tokenName: "用途", tokenExpires: "有效期", tokenCreate: "创建令牌", tokenOnce: "请立即复制令牌，它只显示这一次。",
    tokenNone: "没有令牌", tokenDelete: "吊销该令牌？", tokenDeleteHint: "使用它的程序将立即被拒绝。", revoke: "吊销", created: "创建时间", expires: "到期时间",
    forever: "不过期", days: "{{count}} 天", about: "关于", version: "版本", server: "服务器", sandbox: "沙箱",
    looks: "外观与语言", needName: "请填写用途。", signedInAs: "当前用户：{{name}}（{{role}}）",
  },
};
