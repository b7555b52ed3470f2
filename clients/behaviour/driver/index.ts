/** The driver of scenarios: a cluster, faults on the way to it, and the judgement of what an SDK does. */

export { Driver } from "./driver-server.ts";
export { parseScenarios, readOperations, readScenarios, type Scenario } from "./scenario-file.ts";
