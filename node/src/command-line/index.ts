export { parseArguments, UsageError } from "./arguments.ts";
