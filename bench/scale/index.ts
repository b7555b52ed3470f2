export { ScaleError } from "./disk-guard.ts";
export { type ScaleOptions, scaleCommand } from "./options.ts";
export { runScale } from "./run.ts";
