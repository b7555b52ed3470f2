export {
  applyAllocateMemory,
  applyFreeMemory,
  applyResizeMemory,
  applyWriteMemory,
  describeMemory,
  listMemory,
  type MemoryRegion,
  readMemory,
} from "./memory.ts";
export {
  decodeMemoryOperation,
  type EraseMemory,
  encodeMemoryOperation,
  MEMORY_KINDS,
  type MemoryOperation,
} from "./memory-command.ts";
export { applyEraseMemory, hasErasures } from "./memory-pages.ts";
