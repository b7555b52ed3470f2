/**
 * Measures one micro-benchmark: microseconds of processor and bytes allocated for each operation.
 *
 * Time on the wall is not measured: it says more about the machine than about the code. A round prepares its
 * operations first; only performing them is measured. The kernel counts processor time in steps of some milliseconds,
 * so a round takes many of them.
 *
 * Bytes on the JavaScript heap come from a counter of the engine. Memory outside of it (backing stores of larger typed
 * arrays) has no such counter: it is measured in short rounds in which no garbage collection ran.
 */

import { GCProfiler, getHeapStatistics } from "node:v8";

/** One benchmark. */
export interface MicroCase {
  /** Unique among all cases, such as `apply put, slices of 15`. */
  readonly name: string;
  /** A round has a multiple of this many operations. */
  readonly roundMultiple: number;
  /** Operations of a round that is short enough to end before the garbage collector runs. */
  readonly shortRoundOperations: number;
  /** Makes everything that this many operations need, and returns what performs them. */
  prepare(operations: number): () => void;
}

/** What one operation costs. */
export interface Figures {
  /** Microseconds of processor of the thread that performs the operations. */
  readonly threadMicros: number;
  /** The same of all threads of the process: with those of RocksDB and of the garbage collector. */
  readonly processMicros: number;
  /** Bytes allocated on the JavaScript heap. */
  readonly heapBytes: number;
  /** Bytes allocated outside of it by the engine; null if the garbage collector ran in each short round. */
  readonly externalBytes: number | null;
  /** Operations that were measured. */
  readonly operations: number;
}

export interface MeasurementLimits {
  /** Milliseconds of processor before the measured rounds: the engine compiles what runs often. */
  readonly warmUpMs: number;
  /** Milliseconds of processor in measured rounds, preparing not included. */
  readonly measuredMs: number;
}

/** Milliseconds of processor that a measured round takes at least. */
const ROUND_MS_MIN = 40;
const ROUNDS_MIN = 3;
const SHORT_ROUNDS = 15;
const MICROS_PER_MS = 1000;
interface Round {
  readonly operations: number;
  readonly threadMicros: number;
  readonly processMicros: number;
  readonly heapBytes: number;
}

/** Performs rounds of the case until the limits are reached. */
export function measureCase(microCase: MicroCase, limits: MeasurementLimits): Figures {
  const roundOperations = warmUp(microCase, limits.warmUpMs);
  const rounds: Round[] = [];
  for (let micros = 0; rounds.length < ROUNDS_MIN || micros < limits.measuredMs * MICROS_PER_MS; ) {
    const round = performRound(microCase, roundOperations);
    rounds.push(round);
    micros += round.threadMicros;
  }
  const external = Array.from({ length: SHORT_ROUNDS }, () => externalBytesOf(microCase)).filter(
    (bytes) => bytes !== null,
  );
  return {
    threadMicros: meanOf(rounds, ({ threadMicros }) => threadMicros),
    processMicros: meanOf(rounds, ({ processMicros }) => processMicros),
    heapBytes: meanOf(rounds, ({ heapBytes }) => heapBytes),
    externalBytes: external.length === 0 ? null : Math.max(0, medianOf(external)),
    operations: rounds.length * roundOperations,
  };
}

/** Lets the engine compile the case, and returns the operations of a round that takes long enough to be measured. */
function warmUp(microCase: MicroCase, warmUpMs: number): number {
  let operations = microCase.roundMultiple;
  for (let micros = 0; ; ) {
    const { threadMicros } = performRound(microCase, operations);
    micros += threadMicros;
    const isLongEnough = threadMicros >= ROUND_MS_MIN * MICROS_PER_MS;
    if (isLongEnough && micros >= warmUpMs * MICROS_PER_MS) {
      return operations;
    }
    operations *= isLongEnough ? 1 : 2;
  }
}

function performRound(microCase: MicroCase, operations: number): Round {
  const perform = microCase.prepare(operations);
  const heap = getHeapStatistics();
  const processBefore = process.cpuUsage();
  const threadBefore = process.threadCpuUsage();
  perform();
  const thread = process.threadCpuUsage(threadBefore);
  const all = process.cpuUsage(processBefore);
  const after = getHeapStatistics();
  return {
    operations,
    threadMicros: thread.user + thread.system,
    processMicros: all.user + all.system,
    heapBytes: after.total_allocated_bytes - heap.total_allocated_bytes,
  };
}

/** Bytes outside of the heap for each operation of a short round; null if the garbage collector ran meanwhile. */
function externalBytesOf({ shortRoundOperations, prepare }: MicroCase): number | null {
  const perform = prepare(shortRoundOperations);
  const profiler = new GCProfiler();
  profiler.start();
  const before = getHeapStatistics().external_memory;
  perform();
  const after = getHeapStatistics().external_memory;
  return profiler.stop().statistics.length > 0 ? null : (after - before) / shortRoundOperations;
}

/** What the value comes to for each operation of all rounds. */
function meanOf(rounds: readonly Round[], figureOf: (round: Round) => number): number {
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0);
  return sum(figureOf) / sum(({ operations }) => operations);
}

/** The middle of the values, the greater one of two. */
function medianOf(values: readonly number[]): number {
  const ascending = [...values].sort((one, other) => one - other);
  return ascending[Math.floor(ascending.length / 2)] as number;
}
