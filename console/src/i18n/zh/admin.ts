/** 队列管理：策略、资源池、虚拟集群、工作空间、规格、节点。 */
export const admin = {
  title: "管理", tabs: { policy: "排队策略", pools: "资源池", workspaces: "工作空间", flavors: "规格", nodes: "节点" },
  add: "添加", edit: "编辑", name: "名称", description: "描述", saved: "已保存。", removed: "已移除。", remove: "移除 {{name}}？", removeHint: "如果仍有使用者，系统会拒绝并说明原因，不会移除任何内容。",
  nameHint: "字母、数字、点、下划线和横杠，1 到 63 个字符，以字母或数字开头。", nameMissing: "请填写名称。", nameBad: "名称不符合要求。", defaultStays: "默认项不能移除。", onlyAdmins: "仅限管理员", onlyAdminsHint: "策略、资源池、配额、规格和节点由管理员修改，请联系管理员。", waitingRunning: "排队 / 运行", actions: "操作", none: "还没有内容",
  policy: {
    hint: "决定排队任务顺序与启动方式的规则。修改从下一轮调度起生效，不影响运行中的任务。", changedBy: "由 {{name}} 修改", never: "还没有人修改过。",
    bounds: "{{min}} 到 {{max}}", default: "默认 {{value}}", toDefault: "恢复默认值", on: "开", off: "关", bad: "取值范围 {{min}} 到 {{max}}。", badDuration: "请填写时长，例如 30m、12h 或 3d。", whole: "请填写整数。",
    simulate: "模拟效果", simulateHint: "用本平台最近的任务重新走一遍排队，分别按现有策略和修改后的策略计算，不影响服务器上的任何内容。", save: "保存策略", discard: "放弃修改", changes: "{{count}} 项修改", noChanges: "没有修改", saveFirst: "尚未模拟。可以直接保存，但建议先看效果。",
    effect: "如果当时这样设置", over: "{{since}} 到 {{until}} 之间结束的 {{count}} 个任务", leftOut: "较早的 {{count}} 个任务未计入。", mean: "平均等待", median: "等待中位数", p90: "九成任务不超过", max: "最长等待", notRun: "始终未能启动", now: "现有策略", changed: "修改后", share: "任务占比", wait: "等待时间", same: "没有差别",
    empty: "还没有任务结束", emptyHint: "暂时没有可用于模拟的任务，任务运行之后即可查看效果。", stale: "模拟之后又有修改，请重新模拟。", simulating: "模拟中",
  },
  pools: {
    pools: "资源池", hint: "供任务选择的一组节点。专属资源池只能由指定的工作空间使用。", kind: "类型", kinds: { public: "公共", dedicated: "专属" }, workspaces: "工作空间", nodes: "节点", inService: "{{total}} 个中 {{n}} 个在用", cards: "加速卡", addPool: "添加资源池",
    shares: "虚拟集群", sharesHint: "资源池中的保障份额。其任务闲置的部分可以借给他人，需要时收回。", pool: "资源池", share: "份额", addShare: "添加虚拟集群",
  },
  engines: {
    title: "引擎", hint: "任务在引擎上运行，一个资源池属于一个引擎。在服务器上用 tm engine add slurm NAME 添加集群。", kinds: { local: "本机", slurm: "Slurm 集群" }, pools: "资源池", state: "状态", answers: "有响应", silent: "没有响应",
  },
  limits: {
    resource: "资源", nominal: "保障额度", cap: "上限", capHint: "上限留空表示可用尽他人闲置的部分。", capBelow: "不能小于保障额度。", add: "添加资源", used: "已用 {{used}}", borrowed: "借用 {{borrowed}}", none: "不限", upTo: "上限 {{cap}}", memoryUnit: "MiB",
    names: { gpu: "加速卡", cpu: "CPU 核", memory_mib: "内存" }, of: "加速卡 {{model}}",
  },
  workspaces: {
    hint: "共享配额的一组人。权重表示该工作空间相对于其他工作空间应得的份额。", weight: "权重", quotas: "配额", urgent: "紧急任务", perUser: "每人最多", total: "合计最多", unlimited: "不限", usedOf: "{{used}} / {{total}}", usedFree: "{{used}}（不限）", addQuota: "添加资源池配额", add: "添加工作空间", noQuota: "不限",
  },
  flavors: { hint: "一个副本的资源组合，供任务选择。", workspace: "工作空间", kind: "类型", cpu: "CPU 核", memory: "内存（MiB）", gpu: "加速卡", gpuType: "卡型号", gpuShare: "单卡份额", shm: "共享内存（MiB）", add: "添加规格", any: "任意" },
  nodes: {
    hint: "封锁：不再启动新任务。排空：逐渐清空，可抢占的任务会回到队列。", service: "状态", move: "资源池", jobs: "任务", cordon: "封锁", uncordon: "恢复使用", drain: "排空", note: "原因（显示在节点旁）", evict: "运行中的任务", evicts: { none: "运行到结束", preemptible: "可抢占的任务回到队列", all: "全部回到队列" }, by: "操作人 {{name}}", runsNow: "现有 {{count}} 个任务在运行。", driver: "驱动 {{version}}", moved: "已移到 {{pool}}。", cordonTitle: "停用 {{name}}？", drainTitle: "排空 {{name}}？",
  },
};
