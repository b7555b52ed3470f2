export { parseArguments, UsageError } from "./arguments.ts";
export { parseBoolean, parseCount, parseTime } from "./values.ts";
