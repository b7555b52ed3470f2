export {
  allocateMemoryOperation,
  describeMemory,
  freeMemoryOperation,
  listMemory,
  type MemoryRegion,
  namespaceRegions,
  readMemory,
  readMemoryOperation,
  resizeMemoryOperation,
  writeMemoryOperation,
} from "./memory.ts";
export type { ReadMemory, ReadMemoryResult, WriteMemory, WriteMemoryResult } from "./memory-command.ts";
export { eraseMemoryOperation, hasErasures } from "./memory-pages.ts";
