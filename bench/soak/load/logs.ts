/** Event logs: appends with keys, some of them repeated, and reads. Half of the logs keep only their newest events. */

import { type Action, assertThat, Pool } from "../pace/index.ts";
import { type Part, type PartContext, textOf } from "./part.ts";

interface Log {
  readonly name: string;
  readonly isTrimmed: boolean;
  logId: string;
  lastSequence: number;
}

const NAMESPACE = "logs";
const LOGS = 16;
const TRIMMED_BYTES = 256 * 1_024;
const EVENT_BYTES_MIN = 200;
const EVENT_BYTES_STEP = 100;
const EVENT_SIZES = 10;
/** One in so many appends is repeated with the same key. */
const REPEATED_EVERY = 10;
const READ_EVENTS = 10;
const PAGE_EVENTS = 500;

export class LogLoad implements Part {
  readonly #context: PartContext;
  readonly #pool: Pool<Log>;

  constructor(context: PartContext) {
    this.#context = context;
    const logs = Array.from({ length: LOGS }, (_, at): Log => {
      return { name: `log-${at}`, isTrimmed: at % 2 === 0, logId: "", lastSequence: 0 };
    });
    this.#pool = new Pool(logs);
  }

  readonly actions: readonly Action[] = [
    { name: "append", perSecond: 15, perform: (dueMs) => this.#pool.use((log) => this.#append(log, dueMs)) },
    { name: "log-read", perSecond: 5, perform: (dueMs) => this.#pool.use((log) => this.#read(log, dueMs)) },
  ];

  async prepare(): Promise<void> {
    const { keyValue, logs } = this.#context.client();
    await keyValue.createNamespace(NAMESPACE);
    for (const log of this.#pool.all) {
      const settings = log.isTrimmed ? { retentionMaxBytes: TRIMMED_BYTES } : {};
      log.logId = (await logs.create(log.name, { namespace: NAMESPACE, settings })).logId;
    }
  }

  async verify(): Promise<void> {
    const { logs } = this.#context.client();
    for (const { name, logId, isTrimmed, lastSequence } of this.#pool.all) {
      let next: number | null = isTrimmed ? null : 1;
      for (;;) {
        const page = await logs.read(logId, { fromSequence: next ?? 1, limit: PAGE_EVENTS });
        assertThat(page.lastSequence === lastSequence, `${name} ends at ${page.lastSequence}, not at ${lastSequence}`);
        for (const { sequence, payload } of page.events) {
          assertThat(sequence === (next ?? sequence), `${name} has event ${sequence}, where ${next} should be`);
          assertThat(Buffer.from(payload).equals(payloadOf(name, sequence)), `${name}: event ${sequence} has changed`);
          next = sequence + 1;
        }
        if (page.events.length === 0) {
          break;
        }
      }
      assertThat(next === null || next === lastSequence + 1, `${name} lacks the events from ${next} on`);
    }
  }

  async #append(log: Log, dueMs: number): Promise<void> {
    const sequence = log.lastSequence + 1;
    const append = (kind: string, sinceMs: number) =>
      this.#context.calls.perform(
        kind,
        (identity) =>
          this.#context.client().logs.append(log.logId, payloadOf(log.name, sequence), {
            ...identity,
            key: `event-${sequence}`,
          }),
        sinceMs,
      );
    const appended = await append("append", dueMs);
    assertThat(appended.sequence === sequence, `${log.name} has event ${sequence} at ${appended.sequence}`);
    log.lastSequence = sequence;
    if (sequence % REPEATED_EVERY === 0) {
      const repeated = await append("append-repeated", performance.now());
      assertThat(repeated.sequence === sequence, `${log.name} has event ${sequence} again, at ${repeated.sequence}`);
    }
  }

  /** The newest events, which no log has dropped. */
  async #read({ name, logId, lastSequence }: Log, dueMs: number): Promise<void> {
    const fromSequence = Math.max(1, lastSequence - READ_EVENTS + 1);
    const { events } = await this.#context.calls.perform(
      "log-read",
      (identity) => this.#context.client().logs.read(logId, { ...identity, fromSequence, limit: READ_EVENTS }),
      dueMs,
    );
    const sequences = events.map(({ sequence }) => sequence);
    const expected = Array.from({ length: lastSequence - fromSequence + 1 }, (_, at) => fromSequence + at);
    assertThat(sequences.join() === expected.join(), `${name} has the events ${sequences}, and not ${expected}`);
  }
}

function payloadOf(log: string, sequence: number): Buffer {
  const bytes = EVENT_BYTES_MIN + (sequence % EVENT_SIZES) * EVENT_BYTES_STEP;
  return Buffer.from(textOf(`event ${sequence} of ${log}`, bytes));
}
