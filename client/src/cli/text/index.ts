export { formatSize, parseSize } from "./byte-size.ts";
export { bytesDocument } from "./bytes-document.ts";
export { amountOf, amountThatIs, parseCount, parsePositiveCount, parseSummand } from "./count.ts";
export { decodeText, displayValue, escapeControls } from "./displayed-text.ts";
export { formatMilliseconds, parseDurationMs, parseDurationSeconds, parseWaitMs } from "./duration.ts";
export { parseList } from "./list.ts";
export { snakeCase } from "./snake-case.ts";
export { isTerminalText } from "./terminal-text.ts";
