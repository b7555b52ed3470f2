export { type GuardOptions, guardOf, guardOption, rwGuardOption } from "./guard-option.ts";
export {
  type NamePattern,
  parseKeyArgument,
  parseNameArgument,
  parseNamespaceArgument,
  parsePatternArgument,
  parsePrefixArgument,
} from "./key-argument.ts";
export { type ObjectKind, onlyOne } from "./named-object.ts";
export { readFileValue, readValue, textOption } from "./value-argument.ts";
