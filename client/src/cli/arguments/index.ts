export { CONNECTION_OPTIONS } from "./connection-options.ts";
export { GUARD_OPTIONS, guardOf, LOG_GUARD_OPTIONS } from "./guard-option.ts";
export {
  type NamePattern,
  parseKeyArgument,
  parseNameArgument,
  parseNamespaceArgument,
  parsePatternArgument,
  parsePrefixArgument,
} from "./key-argument.ts";
export { isUuid, type ObjectKind, onlyOne } from "./named-object.ts";
export { addOptions, choice, flag, OptionForm, type OptionsOf, type OptionTable, option } from "./option-form.ts";
export { readFileValue, readValue, textOption } from "./value-argument.ts";
