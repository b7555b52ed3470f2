/** Memory regions. */

import type { Example } from "./example.ts";

export const MEMORY: readonly Example[] = [
  {
    kind: "grpc",
    method: "MemoryService/AllocateMemory",
    request: { namespace: "shop", sizeBytes: "1024", label: "counters" },
    answers: [
      {
        regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
        sizeBytes: "1024",
        version: "1",
        revision: "16",
      },
    ],
  },
  {
    kind: "grpc",
    method: "MemoryService/WriteMemory",
    request: {
      namespace: "shop",
      regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
      offset: "16",
      data: "MTIzNDU2Nzg=",
    },
    answers: [{ bytesWritten: "8", version: "2", revision: "17" }],
  },
  {
    kind: "grpc",
    method: "MemoryService/ReadMemory",
    request: {
      namespace: "shop",
      regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
      offset: "16",
      length: "8",
    },
    answers: [{ data: "MTIzNDU2Nzg=", version: "2", sizeBytes: "1024", revision: "17" }],
  },
  {
    kind: "grpc",
    method: "MemoryService/DescribeMemory",
    request: { namespace: "shop", regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010" },
    answers: [
      {
        region: {
          regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
          namespace: "shop",
          sizeBytes: "1024",
          version: "2",
          createdAtMs: "1795719584327",
          updatedAtMs: "1795719584392",
          label: "counters",
        },
        revision: "17",
      },
    ],
  },
  {
    kind: "grpc",
    method: "MemoryService/ResizeMemory",
    request: {
      namespace: "shop",
      regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
      sizeBytes: "2048",
      expectedVersion: "2",
    },
    answers: [{ sizeBytes: "2048", previousSizeBytes: "1024", version: "3", revision: "18" }],
  },
  {
    kind: "grpc",
    method: "MemoryService/ListMemoryRegions",
    request: { namespace: "shop" },
    answers: [
      {
        regions: [
          {
            regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010",
            namespace: "shop",
            sizeBytes: "2048",
            version: "3",
            createdAtMs: "1795719584327",
            updatedAtMs: "1795719584484",
            label: "counters",
          },
        ],
        revision: "18",
      },
    ],
  },
  {
    kind: "grpc",
    method: "MemoryService/FreeMemory",
    request: { namespace: "shop", regionId: "3f0c8a52-6d1e-8b9a-8000-000000000010" },
    answers: [{ freed: true, revision: "19" }],
  },
];
