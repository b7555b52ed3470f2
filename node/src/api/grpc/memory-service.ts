/** MemoryService on a server. */

import { serviceDefinitions } from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import type { MemoryMethods } from "../methods/index.ts";

export function memoryService(port: PortContext<Caller>, methods: MemoryMethods): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.MemoryService, {
    allocateMemory: (call, request, reply) => methods.allocateMemory(call, request, reply),
    describeMemory: (call, request, reply) => methods.describeMemory(call, request, reply),
    resizeMemory: (call, request, reply) => methods.resizeMemory(call, request, reply),
    freeMemory: (call, request, reply) => methods.freeMemory(call, request, reply),
    writeMemory: { carriesData: true, handle: (call, request, reply) => methods.writeMemory(call, request, reply) },
    readMemory: (call, request, reply) => methods.readMemory(call, request, reply),
    listMemoryRegions: (call, request, reply) => methods.listMemoryRegions(call, request, reply),
  });
}
