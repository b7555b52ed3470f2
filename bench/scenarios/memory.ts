/** Writes of whole pages at random places of one large, full memory region. */

import type { Connection, Regions } from "../clusters/index.ts";
import { regionsOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";

export const memory: Scenario = {
  name: "memory",
  description: "writes of 4 KiB at random aligned offsets of a full region of 64 MiB",
  concurrency: IN_FLIGHT,
  valueBytesDefault: null,
  isComparable: false,
  createWorkload: () => closedLoop(new PageWrites(REGION_PAGES, Math.random)),
};

const PAGE_BYTES = 4096;
const REGION_PAGES = 16_384;
/**
 * The region is filled, and read at the end, in parts of this many pages: 1 MiB, well below the size limit of a
 * message.
 */
const PART_PAGES = 256;

/** Exported for its specs, which use small regions. */
export class PageWrites implements Operations {
  readonly revisionsPerOperation = 1n;
  readonly attempts = null;
  readonly #random: () => number;
  /** For each page, the number of the last write to it; 0 = its initial content. */
  readonly #writes: Float64Array;
  readonly #inFlight = new Set<number>();
  #region = "";
  #next = 1;
  /** Writes of any size since the creation of the region. */
  #writesDone = 0n;
  revision = 0n;

  /** @param random from 0 to below 1. */
  constructor(pages: number, random: () => number) {
    this.#writes = new Float64Array(pages);
    this.#random = random;
  }

  async prepare(connection: Connection): Promise<void> {
    const regions = regionsOf(connection);
    this.#region = await regions.allocate(this.#writes.length * PAGE_BYTES);
    for (const [first, count] of this.#parts()) {
      await this.#write(regions, first, this.#contentOf(first, count));
    }
  }

  async perform(connection: Connection): Promise<void> {
    const page = this.#choosePage();
    const write = this.#next++;
    this.#inFlight.add(page);
    await this.#write(regionsOf(connection), page, contentOf(page, write));
    this.#inFlight.delete(page);
    this.#writes[page] = write;
  }

  /** Reads the whole region: every page must contain its last write. */
  async verify(connection: Connection): Promise<void> {
    for (const [first, count] of this.#parts()) {
      const { data, version } = await regionsOf(connection).read(this.#region, first * PAGE_BYTES, count * PAGE_BYTES);
      if (!this.#contentOf(first, count).equals(data)) {
        throw new Error(`pages ${first} to ${first + count - 1} do not contain their last writes`);
      }
      if (version !== this.#writesDone + 1n) {
        throw new Error(`the region was written ${this.#writesDone} times, but has the version ${version}`);
      }
    }
  }

  async #write(regions: Regions, page: number, data: Buffer): Promise<void> {
    const revision = await regions.write(this.#region, page * PAGE_BYTES, data);
    this.#writesDone++;
    this.revision = greater(revision, this.revision);
  }

  /** Returns a page without a write in flight: of two simultaneous writes to a page, the last one is unknown. */
  #choosePage(): number {
    for (;;) {
      const page = Math.floor(this.#random() * this.#writes.length);
      if (!this.#inFlight.has(page)) {
        return page;
      }
    }
  }

  /** The first page and the number of pages of each part. */
  *#parts(): Generator<readonly [number, number], void, void> {
    for (let first = 0; first < this.#writes.length; first += PART_PAGES) {
      yield [first, Math.min(PART_PAGES, this.#writes.length - first)];
    }
  }

  /** The content of these pages. */
  #contentOf(first: number, count: number): Buffer {
    return Buffer.concat(
      Array.from({ length: count }, (_, at) => contentOf(first + at, this.#writes[first + at] as number)),
    );
  }
}

/** A page without a zero at its end, whose content identifies its number and the write. */
function contentOf(page: number, write: number): Buffer {
  const content = Buffer.alloc(PAGE_BYTES, 1 + (write % 255));
  content.writeUInt32LE(page, 0);
  content.writeUInt32LE(write, 4);
  return content;
}
