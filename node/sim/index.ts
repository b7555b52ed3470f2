export { describeRun } from "./report.ts";
export { type RunResult, Simulation } from "./simulation.ts";
