export {
  type AllocateOptions,
  type AllocateResult,
  type DescribeRegionResult,
  type FreeResult,
  type ListRegionsOptions,
  type ListRegionsPageOptions,
  MemoryClient,
  type MemoryRegionInfo,
  type ReadMemoryResult,
  type RegionPage,
  type ResizeResult,
  type WriteMemoryResult,
} from "./memory.ts";
export {
  MemoryRegion,
  type RegionChangeOptions,
  type RegionReadOptions,
  type RegionWriteOptions,
  type SeekOrigin,
} from "./memory-region.ts";
