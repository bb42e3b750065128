/** 排队与时间线。 */
export const queue = {
  title: "排队", list: "列表", timeline: "时间线", view: "显示方式",
  waiting: "{{count}} 个任务在排队", matching: "{{count}} 个排队任务符合条件", planned: "已是最新，最近变化于", nothing: "没有任务在排队",
  nothingHint: "已提交的任务都在运行或已结束。", noneMatches: "没有符合条件的排队任务", noneMatchesHint: "请选择其他资源池、卡型号或工作空间。",
  another: "其他用户的任务", anyCard: "任意型号", noCards: "不使用加速卡", more: "显示更多", demandAsked: "另有 {{count}} 个任务申请 {{cards}} 卡",
  demandNone: "无人排队", cardsInUse: "加速卡的使用与排队需求",
  col: { position: "序号", job: "任务", size: "规模", reason: "等待原因", since: "已等待", forecast: "预计开始", actions: "操作" },
  filter: { pool: "资源池", model: "卡型号", workspace: "工作空间", mine: "只看我的任务" },
  forecast: {
    after: "{{time}} 之后",
    now: "马上", about: "约 {{time}}", range: "{{low}} – {{high}}", rangeHint: "十次中有九次会在这段时间内开始。", unknown: "未知", because: "无法预计：{{why}}", none: "尚未估计",
    soon: "{{time}} 后", overdue: "随时可能", by: "{{engine}} 的估计",
  },
  detail: {
    reason: "等待原因", sooner: "怎样可以更早开始", best: "代价最小", noneKnown: "没有已知的单项修改能让它明显提前开始。", startsNow: "立即开始", startsSooner: "约 {{time}} 开始，而不是 {{before}}", unknownTime: "未知时间", holders: "谁占用了它需要的资源", until: "到 {{time}}", noEnd: "不限时长",
    priority: "修改优先级", open: "打开任务", apply: "应用", copy: "按此修改另建任务", copyHint: "任务排队后，申请的资源不能再改。点击后会打开带有此项修改的副本，可在提交时选择是否替换原任务。",
    applied: "已修改，将立即重新调度。", keepsPlace: "任务保留排队位置，其他内容不变。", endsAfter: "运行满 {{time}} 后会被结束。", flavors: "规格", notYours: "改进建议只显示给任务的所有者。", expand: "等待原因与改进建议", collapse: "收起",
  },
};

export const timeline = {
  title: "运行中与预计开始的任务", span: "时间范围", hours: "{{n}} 小时", days: "{{n}} 天", earlier: "更早", later: "更晚", toNow: "现在", zoomIn: "缩短时间范围", zoomOut: "扩大时间范围", rows: "每行", row: { card: "一张卡", node: "一个节点" }, colour: "颜色",
  by: { workspace: "按工作空间", priority: "按优先级", job: "按任务" },
  legend: { ran: "已运行", expected: "最多运行到时长上限", forecast: "预计开始", range: "开始时间的范围", open: "不限时长", move: "拖动可平移，Ctrl + 滚轮可缩放" },
  card: "卡 {{n}}", node: "节点", none: "没有机器", noneHint: "节点上报后会显示在这里。", leftOut: "还有 {{count}} 条未画出，请选择资源池。",
  from: "开始于", start: "预计开始", until: "最晚到", unlimited: "不限时长", cards: "加速卡", low: "最早", high: "最晚", alsoOn: "同时使用 {{nodes}}",
  help: "方向键在任务之间移动，回车打开任务，加号和减号改变时间范围。", empty: "这里没有运行中或预计开始的任务。",
  say: { running: "{{name}} 在 {{node}} 上从 {{from}} 运行到 {{until}}", forecast: "{{name}} 预计 {{from}} 在 {{node}} 上开始" },
  service: { in_service: "在用", cordoned: "已封锁", draining: "排空中", drained: "已排空" },
};
