export { commitText } from "./commit.ts";
export { describeRun } from "./report.ts";
export { drawScript, type Script } from "./script.ts";
export { type RunResult, Simulation } from "./simulation.ts";
