export { requireUtf8 } from "./argument-bytes.ts";
export { interruptible } from "./interruption.ts";
export type { Input, Terminal } from "./terminal.ts";
