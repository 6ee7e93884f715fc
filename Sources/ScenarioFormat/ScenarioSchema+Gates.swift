/// `gates` of a cohort.
extension ScenarioSchema {
  static let gates = Shape.object([
    Key("rateWindows", .list(.object(rateWindowKeys))),
    Key("wholeRun"),
    Key("restartRun"),
    Key("breaker", breaker),
    Key("failureWindow", failureWindow),
    Key("projectDelay", projectDelay),
    Key("retryBudget", retryBudget),
    Key("adaptiveThrottling", throttle),
    Key("controller", controller),
    Key("reconcile"),
  ])
  static let rateWindowKeys = [
    Key("slots", example: "60", required: true), Key("span", example: "\"60s\"", required: true),
  ]
  static let breaker = Shape.object([
    Key("requests"), Key("window"), Key("threshold"), Key("minimumFailures"), Key("openTime"),
    Key("longestOpenTime"), Key("probes"),
  ])
  static let failureWindow = Shape.object([
    Key("failures"), Key("span"), Key("whenBlocked"), Key("queries"), Key("exempt"),
  ])
  static let projectDelay = Shape.object([Key("base"), Key("longest")])
  static let retryBudget = Shape.object([
    Key("perRun"), Key("capacity"), Key("perSuccess"), Key("trickle"),
  ])
  static let throttle = Shape.object([Key("k"), Key("window"), Key("pause")])
  static let controller = Shape.object([
    Key("uploads"), Key("smallestBatch"), Key("largestBatch"), Key("batchStep"), Key("decrease"),
    Key("targetLatency"), Key("shortestGap"), Key("longestGap"),
  ])
}
