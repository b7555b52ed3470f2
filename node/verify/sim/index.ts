export { type RandomStream, streamOf } from "./random.ts";
export { describeRun } from "./report.ts";
export type { RunResult } from "./run-result.ts";
export { drawScript, type Script } from "./script.ts";
export { Simulation } from "./simulation.ts";
