/** Runs of a workload on clusters in turns, and their combined figures. */

export { bytesBelow, syncMsMedian } from "./disk.ts";
export type { Run, Target } from "./measure.ts";
export { percentile } from "./percentile.ts";
export { machineCpuMs, usageOf } from "./process-usage.ts";
export {
  appendRaw,
  describeRun,
  doubtsAboutAll,
  isDisturbed,
  pointTable,
  ratioTable,
  rawRun,
} from "./report.ts";
export { measurePoint, prepare } from "./side-by-side.ts";
export { compare, type Point, type Ratio } from "./summary.ts";
