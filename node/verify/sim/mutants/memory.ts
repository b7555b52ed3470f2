/** Bugs in memory regions. */

import type { Mutant } from "./mutant.ts";

export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    name: "guard-of-memory-not-checked",
    pitfall: "P53",
    file: "state/memory/memory.ts",
    find: "  checkGuard(context.transaction, namespace, guard);",
    replace: "  checkGuard(context.transaction, namespace, guard === undefined ? guard : undefined);",
  },
  {
    name: "written-outside-of-a-region",
    pitfall: "S31",
    file: "state/memory/memory.ts",
    find: "  if (offset > region.sizeBytes || length > region.sizeBytes - offset) {",
    replace: "  if (offset > region.sizeBytes) {",
  },
  {
    name: "what-was-cut-off-shows-again",
    pitfall: "S32",
    file: "state/memory/memory-pages.ts",
    find: "  if (firstWhole * SEGMENT_BYTES !== sizeBytes) {",
    replace: "  if (firstWhole * SEGMENT_BYTES < sizeBytes) {",
  },
  {
    name: "segments-that-were-cut-off-stay",
    pitfall: "S32",
    file: "state/memory/memory-pages.ts",
    find: "    transaction.delete(key);\n    transaction.put(memoryErasureRow(",
    replace: "    transaction.put(memoryErasureRow(",
  },
  {
    name: "erasing-touches-what-was-written-later",
    pitfall: "S32",
    file: "state/memory/memory-pages.ts",
    find: "data.subarray(at - offset, to - offset), revision);",
    replace: "data.subarray(at - offset, to - offset), Math.min(revision, createRevision));",
  },
  {
    name: "rest-of-a-page-not-kept",
    pitfall: "S33",
    file: "state/memory/memory-pages.ts",
    find: "    const isKept = stored !== undefined && part.length < PAGE_BYTES;",
    replace: "    const isKept = stored !== undefined && part.length < PAGE_BYTES && start > 0;",
  },
  {
    name: "erasing-never-ends",
    pitfall: "S44",
    file: "replica/context/maintenance.ts",
    find: "    if (hasErasures(this.#state)) {",
    replace: "    if (hasErasures(this.#state) && progress.tickMs < 0) {",
  },
  {
    name: "erasures-looked-for-once-only",
    pitfall: "S44",
    file: "replica/context/maintenance.ts",
    find: "    if (progress.appliedIndex === this.#erasedIndex) {",
    replace: "    if (this.#erasedIndex > 0) {",
  },
  {
    name: "expected-version-of-a-region-ignored",
    pitfall: "S15",
    file: "state/memory/memory.ts",
    find: "  if (expectedVersion !== undefined && expectedVersion !== region.version) {",
    replace: "  if (expectedVersion !== undefined && expectedVersion > region.version) {",
  },
];
