export { parseArguments, UsageError } from "./arguments.ts";
export { parseCount, parseTime } from "./values.ts";
