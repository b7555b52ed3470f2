export { requireUtf8 } from "./argument-bytes.ts";
export { interruptible, onSignals } from "./interruption.ts";
export type { Input, Terminal } from "./terminal.ts";
