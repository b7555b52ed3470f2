export { type AppliedEntry, ApplyLoop, type ApplyObserver } from "./apply-loop.ts";
export { ClusterDiskSpace } from "./cluster-disk-space.ts";
export { NamespaceSurvey } from "./namespace-survey.ts";
export { StateComparison } from "./state-comparison.ts";
