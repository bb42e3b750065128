/** 任务列表，以及停止、删除前的确认。 */
export const jobs = {
  title: "训练任务", search: "名称、ID、描述或 label:键=值", all: "全部",
  col: {
    name: "名称", state: "状态", progress: "进度", owner: "提交人", submitted: "提交时间", run: "运行时长",
    where: "资源池 / 节点", resources: "资源", metric: "关键指标", actions: "操作",
  },
  filter: { owner: "提交人", framework: "框架", sort: "排序" },
  sort: {
    "-submitted_at": "最新提交", submitted_at: "最早提交", name: "名称", "-run_s": "运行最久", "-priority": "优先级",
  },
  position: "排在第 {{n}} 位", waited: "已等待 {{time}}", ranOf: "{{run}} / {{limit}}", eta: "约剩 {{time}}",
  step: "第 {{step}} / {{of}} 步", stepOnly: "第 {{step}} 步",
  selected: "已选 {{count}} 项", loadMore: "加载更多", loaded: "已显示 {{n}} 项",
  emptyTitle: "还没有训练任务", emptyHint: "在这里创建第一个任务，或在终端里提交：",
  noneTitle: "没有符合条件的任务", noneHint: "请修改搜索或筛选条件。", clearFilters: "清除筛选",
  stop: {
    title: "停止 {{count}} 个任务？", ok: "停止",
    what: "所有副本会先收到停止信号，宽限时间后强制结束。已有的日志和输出会保留。已停止的任务不能重新启动，但可以克隆。",
    skip: "所选任务中有 {{count}} 个已经结束，保持不变。",
    done: "正在停止 {{count}} 个任务",
  },
  delete: {
    title: "删除 {{count}} 个任务？", ok: "删除",
    what: "任务记录、所有尝试的日志和未保存的输出将被永久删除。已保存的模型版本会保留。",
    skip: "所选任务中有 {{count}} 个尚未结束，不会被删除。请先停止。",
    done: "已删除 {{count}} 个任务", onlyEnded: "只能删除已结束的任务，请先停止。",
  },
  refused: "{{count}} 个被拒绝：", andMore: "以及另外 {{count}} 个",
};
