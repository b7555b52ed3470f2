export {
  allocateMemoryOperation,
  describeMemory,
  freeMemoryOperation,
  listMemory,
  type MemoryRegion,
  readMemory,
  resizeMemoryOperation,
  writeMemoryOperation,
} from "./memory.ts";
export { eraseMemoryOperation, hasErasures } from "./memory-pages.ts";
