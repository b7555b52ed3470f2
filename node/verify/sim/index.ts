export { commitText, firstSeedOf } from "./commit.ts";
export { type RandomStream, streamOf } from "./random.ts";
export { describeRun } from "./report.ts";
export { drawScript, type Script } from "./script.ts";
export { type RunResult, Simulation } from "./simulation.ts";
