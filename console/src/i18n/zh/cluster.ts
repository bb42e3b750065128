/** 集群与模型。 */
export const cluster = {
  cluster: {
    title: "集群", waiting: "排队", running: "运行", nodesReady: "可用节点", cards: "使用中的卡", cpu: "CPU", memory: "内存", cardsShort: "加速卡",
    noCards: "没有加速卡", drained: "已停止调度", drainedWhy: "不再接收新任务：{{why}}", simulated: "模拟", simulatedHint: "这些卡由配置模拟，用于尝试多副本调度和卡分配，不进行计算。",
    idle: "空闲", another: "其他用户的任务", nobody: "没有任务使用该节点。", sandbox: "沙箱", sandboxNone: "任务在没有沙箱的情况下运行，可以看到本机文件。",
    card: "卡 {{n}}", utilisation: "利用率", ready: "可用",
  },
  models: {
    title: "模型", search: "搜索模型", name: "名称", owner: "所有者", versions: "版本数", latest: "最新版本", created: "创建时间", version: "版本 {{n}}",
    size: "大小", files: "文件", digest: "摘要", job: "来源任务", metrics: "最终指标", path: "存放位置", none: "还没有模型",
    noneHint: "任务成功后，写入 /model 和 /workspace/outputs 的内容会成为这里的模型版本。", downloadAll: "全部下载（tar.gz）",
    attempt: "第 {{n}} 次尝试",
  },
};
