export { KEY_VALUE_COMMANDS } from "./kv-commands.ts";
export { NAMESPACE_COMMANDS } from "./namespace-commands.ts";
