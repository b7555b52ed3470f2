/** MemoryService on a server. */

import {
  AllocateMemoryRequest,
  DescribeMemoryRequest,
  FreeMemoryRequest,
  ListMemoryRegionsRequest,
  ReadMemoryRequest,
  ResizeMemoryRequest,
  serviceDefinitions,
  WriteMemoryRequest,
} from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type Implementation, type PortContext, unary } from "../calls/index.ts";
import type { MemoryMethods } from "../methods/index.ts";

const DEFINITION = serviceDefinitions.MemoryService;

export function memoryService(port: PortContext<Caller>, methods: MemoryMethods): Implementation<typeof DEFINITION> {
  return {
    allocateMemory: unary(port, {
      path: DEFINITION.allocateMemory.path,
      codec: AllocateMemoryRequest,
      handle: (call, request, reply) => methods.allocateMemory(call, request, reply),
    }),
    describeMemory: unary(port, {
      path: DEFINITION.describeMemory.path,
      codec: DescribeMemoryRequest,
      handle: (call, request, reply) => methods.describeMemory(call, request, reply),
    }),
    resizeMemory: unary(port, {
      path: DEFINITION.resizeMemory.path,
      codec: ResizeMemoryRequest,
      handle: (call, request, reply) => methods.resizeMemory(call, request, reply),
    }),
    freeMemory: unary(port, {
      path: DEFINITION.freeMemory.path,
      codec: FreeMemoryRequest,
      handle: (call, request, reply) => methods.freeMemory(call, request, reply),
    }),
    writeMemory: unary(port, {
      path: DEFINITION.writeMemory.path,
      codec: WriteMemoryRequest,
      handle: (call, request, reply) => methods.writeMemory(call, request, reply),
    }),
    readMemory: unary(port, {
      path: DEFINITION.readMemory.path,
      codec: ReadMemoryRequest,
      handle: (call, request, reply) => methods.readMemory(call, request, reply),
    }),
    listMemoryRegions: unary(port, {
      path: DEFINITION.listMemoryRegions.path,
      codec: ListMemoryRegionsRequest,
      handle: (call, request, reply) => methods.listMemoryRegions(call, request, reply),
    }),
  };
}
