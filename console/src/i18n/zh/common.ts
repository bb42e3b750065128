/** 各页面共用的文字。 */
export const common = {
  nav: { jobs: "训练任务", queue: "排队", cluster: "集群", admin: "管理", models: "模型", settings: "设置", newJob: "创建任务", main: "主导航" },
  state: {
    queued: "排队中", initialising: "初始化", pending: "在集群中排队", running: "运行中", saving: "保存中", retained: "调试保留",
    stopping: "停止中", succeeded: "成功", failed: "错误", stopped: "停止", expired: "过期",
    waiting: "等待", exited: "已退出", lost: "丢失", placed: "已分配", staging: "数据准备", starting: "启动中",
    draining: "停止中", ended: "已结束",
  },
  priority: { normal: "普通", urgent: "紧急", very_urgent: "非常紧急", adminsOnly: "仅限管理员" },
  action: {
    stop: "停止", clone: "克隆", delete: "删除", cancel: "取消", save: "保存", copy: "复制", copied: "已复制",
    retry: "重试", download: "下载", remove: "移除", more: "更多",
    reload: "重新加载", clear: "清除",
  },
  mark: { colon: "：", stop: "。" },
  role: { admin: "管理员", user: "普通用户" },
  unit: { cores: "{{n}} 核", cards: "{{n}} 卡", tasks: "{{count}} 个副本" },
  time: {
    justNow: "刚刚", noLimit: "不限", left: "剩余 {{time}}",
    local: "本地时间", utc: "UTC",
  },
  feed: { live: "实时", connecting: "连接中", waiting: "重新连接", paused: "已暂停", hint: "处于实时状态时页面自动更新。" },
  error: {
    title: "出错了", broken: "服务器未能处理请求（{{status}}）。", brokenHint: "请重试；如果持续出现，请管理员查看服务器日志。", unreachable: "服务器没有响应。",
    unreachableHint: "请确认服务正在运行且网络可达；页面会自动重试。",
    notFound: "页面不存在", notFoundHint: "地址可能有误，或内容已被删除。",
    render: "页面显示失败", renderHint: "请重新加载；若再次出现，请反馈下面的文字。",
    outdated: "内容不是最新：这是 {{time}} 的数据。", earlier: "显示的不是您所选的内容：这是选择之前（{{time}}）的数据。", problems: "{{count}} 个问题",
  },
  theme: { title: "外观", light: "浅色", dark: "深色", system: "跟随系统" },
  language: { title: "语言", switch: "切换为英文", other: "English" },
  user: { menu: "账号", signOut: "退出登录", password: "修改密码" },
  signin: {
    title: "登录", username: "用户名", password: "密码", submit: "登录",
    tagline: "一条命令，训练出模型。",
    firstStart: "首次启动？一次性密码已打印在启动服务的终端里。",
    wrong: "用户名或密码不正确。", wrongHint: "请检查后重试。在服务器所在的机器上可用 tm password 设置新密码。", needUsername: "请输入用户名。", needPassword: "请输入密码。",
    changeTitle: "设置您自己的密码", changeHint: "一次性密码只能使用一次。请设置至少 10 个字符的密码。",
    old: "当前密码", fresh: "新密码", again: "再次输入新密码", tooShort: "至少 10 个字符。",
    differ: "两次输入的密码不一致。", same: "新密码不能与当前密码相同。", change: "设置密码并继续",
    changed: "密码已修改。", skip: "使用其他账号登录", points: {
      gang: "分布式任务的所有副本一起启动，或者都不启动",
      why: "每个等待都有原因，每个失败都有处理建议",
      model: "训练结果自动成为可追溯的模型版本",
    },
  },
};
