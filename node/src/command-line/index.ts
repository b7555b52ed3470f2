export { parseArguments, UsageError } from "./arguments.ts";
export { parseCount } from "./values.ts";
