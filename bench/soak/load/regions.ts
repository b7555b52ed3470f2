/** Pages of memory regions that are written and read. */

import { type Action, assertThat, Pool } from "../pace/index.ts";
import { type Part, type PartContext, textOf } from "./part.ts";

interface Page {
  readonly region: number;
  readonly offset: number;
  /** Null = never written: zeros. */
  text: string | null;
}

const NAMESPACE = "regions";
const REGIONS = 4;
const REGION_BYTES = 1_024 * 1_024;
const PAGE_BYTES = 4_096;

export class RegionLoad implements Part {
  readonly #context: PartContext;
  readonly #pool: Pool<Page>;
  readonly #ids: string[] = [];
  #next = 0;

  constructor(context: PartContext) {
    this.#context = context;
    const pagesOf = (region: number): Page[] =>
      Array.from({ length: REGION_BYTES / PAGE_BYTES }, (_, at) => ({ region, offset: at * PAGE_BYTES, text: null }));
    this.#pool = new Pool(Array.from({ length: REGIONS }, (_, at) => pagesOf(at)).flat());
  }

  readonly actions: readonly Action[] = [
    { name: "memory-write", perSecond: 5, perform: (dueMs) => this.#pool.use((page) => this.#write(page, dueMs)) },
    { name: "memory-read", perSecond: 5, perform: (dueMs) => this.#pool.use((page) => this.#read(page, dueMs)) },
  ];

  async prepare(): Promise<void> {
    const { keyValue, memory } = this.#context.client();
    await keyValue.createNamespace(NAMESPACE);
    for (let at = 0; at < REGIONS; at++) {
      this.#ids.push((await memory.allocate(NAMESPACE, REGION_BYTES)).regionId);
    }
  }

  async verify(): Promise<void> {
    const { memory } = this.#context.client();
    const regions = await Promise.all(this.#ids.map((id) => memory.read(NAMESPACE, id, 0, REGION_BYTES)));
    for (const page of this.#pool.all) {
      assertWritten(page, regions[page.region]?.data.subarray(page.offset, page.offset + PAGE_BYTES));
    }
  }

  async #write(page: Page, dueMs: number): Promise<void> {
    const text = textOf(`page ${this.#next++}`, PAGE_BYTES);
    await this.#context.calls.perform(
      "memory-write",
      (identity) => this.#context.client().memory.write(NAMESPACE, this.#idOf(page), page.offset, text, identity),
      dueMs,
    );
    page.text = text;
  }

  async #read(page: Page, dueMs: number): Promise<void> {
    const { data } = await this.#context.calls.perform(
      "memory-read",
      (identity) => this.#context.client().memory.read(NAMESPACE, this.#idOf(page), page.offset, PAGE_BYTES, identity),
      dueMs,
    );
    assertWritten(page, data);
  }

  #idOf({ region }: Page): string {
    return this.#ids[region] as string;
  }
}

function assertWritten({ region, offset, text }: Page, data: Uint8Array = new Uint8Array(0)): void {
  const expected = text === null ? Buffer.alloc(PAGE_BYTES) : Buffer.from(text);
  assertThat(Buffer.from(data).equals(expected), `region ${region} does not have its last write at ${offset}`);
}
