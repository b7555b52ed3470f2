export { addKeyValueCommands } from "./kv-commands.ts";
export { addNamespaceCommands } from "./namespace-commands.ts";
