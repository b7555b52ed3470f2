export { parseArguments, requireUsage, UsageError } from "./arguments.ts";
export { addFlags, type FlagTable, type FlagValues, flag, repeated, requireNone, toggle, valuesOf } from "./flag.ts";
export { parseBoolean, parseChoice, parseCount, parseMilliseconds, parseTime, requireRule } from "./values.ts";
