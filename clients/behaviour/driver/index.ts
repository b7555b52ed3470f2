/** The driver of scenarios: a cluster, faults on the way to it, and the judgement of what an SDK does. */

export { Conversation } from "./conversation.ts";
export { Driver } from "./driver-server.ts";
export { type OfferedScenario, RunnerServer } from "./runner-server.ts";
export { parseScenarios, readOperations, readScenarios, type Scenario } from "./scenario-file.ts";
export { isRecord, type Value } from "./values.ts";
