export { type CaseGroup, microCaseGroups } from "./cases.ts";
export { type Figures, type MicroCase, measureCase } from "./measurement.ts";
