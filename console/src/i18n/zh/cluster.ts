/** 集群与模型。 */
export const cluster = {
  cluster: {
    title: "集群", waiting: "排队", running: "运行", nodesReady: "可用节点", cards: "使用中的卡", cpu: "CPU", memory: "内存", cardsShort: "加速卡",
    noCards: "没有加速卡", drained: "已停止调度", drainedWhy: "不再接收新任务：{{why}}", simulated: "模拟", simulatedHint: "这些卡由配置模拟，用于尝试多副本调度和卡分配，不进行计算。",
    idle: "空闲", another: "其他用户的任务", nobody: "没有任务使用该节点。", sandbox: "沙箱", sandboxNone: "任务在没有沙箱的情况下运行，可以看到本机文件。",
    card: "卡 {{n}}", share: "占该卡 {{n}}%", shareFree: "{{n}}% 空闲", utilisation: "利用率", ready: "可用",
  },
  models: {
    title: "模型", search: "搜索模型", name: "名称", owner: "所有者", versions: "版本数", latest: "最新版本", created: "创建时间", version: "版本 {{n}}",
    size: "大小", files: "文件", digest: "摘要", job: "来源任务", metrics: "最终指标", path: "存放位置", none: "还没有模型",
    noneHint: "任务成功后，写入 /model 和 /workspace/outputs 的内容会成为这里的模型版本。", downloadAll: "全部下载（tar.gz）",
    attempt: "第 {{n}} 次尝试",
  },
};

/** 符合条件的机器与使用情况（R164-R169）。 */
export const resources = {
  title: "集群资源", nodes: "机器", table: "资源表", view: "显示方式", flavors: "规格", flavorsHint: "只显示能运行其中任一规格的机器", model: "卡型号", pool: "资源池",
  col: { node: "节点", system: "系统", cpu: "CPU", memory: "内存", cards: "加速卡", driver: "驱动版本", suits: "适用规格", state: "状态", usage: "卡使用情况" },
  state: { idle: "可立即运行", tight: "已满", free: "有空闲", full: "已满", away: "停用", cards: "空闲 {{n}} 卡" },
  stateHint: { idle: "所选规格中至少有一个副本可立即在此启动。", tight: "当前空闲资源放不下任何所选规格。", free: "现在可以在此启动任务。选择规格可查看能否放下。", full: "现在无法在此启动更多任务。", away: "不接收新任务。" },
  usageHint: "物理卡号（虚拟卡号）：应用", nobody: "空闲", none: "没有符合条件的机器", noneHint: "请选择其他规格、卡型号或资源池。", anySuits: "任意", noDriver: "无驱动",
  moreUsers: "另有 {{count}} 个", open: "集群资源", noFlavors: "该工作空间还没有定义规格。",
};
