export { beginningOf } from "./beginning-of.ts";
export { readUint32, readUint53, writeUint32, writeUint53 } from "./binary.ts";
export { listenToMarks, mark } from "./mark.ts";
export { StacklessError } from "./stackless-error.ts";
export { InvariantViolation, invariant, safeCount } from "./violation.ts";
