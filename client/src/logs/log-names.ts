/**
 * Finds event logs by name, so that every call takes a name where it takes an id. It remembers ids: a name costs one
 * request more, once. If the log of a remembered id is gone, it looks the name up again, because a new log may have it.
 */

import type { CallOptions } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { badField, textField } from "../options/index.ts";
import type { LogInfo } from "./log-messages.ts";

/** How to look names up. */
export interface LogSource {
  /** The log of this name in one namespace; undefined = there is none. */
  find(name: string, options: CallOptions & { readonly namespace: string }): Promise<LogInfo | undefined>;
  /** The logs of this name in all visible namespaces. */
  pages(options: CallOptions & { readonly name: string }): AsyncIterable<readonly LogInfo[]>;
  /** A clock that only moves forward, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Time limit of calls without their own, in milliseconds. */
  readonly timeoutMs: number;
}

/** The most remembered names. */
const NAMES_MAX = 1_000;
const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The ids of logs, by the text that names them. */
export class LogNames {
  readonly #source: LogSource;
  readonly #ids = new Map<string, string>();

  constructor(source: LogSource) {
    this.#source = source;
  }

  /**
   * Runs work with the id of a log, within the time limit of both.
   *
   * @param log the id, NAMESPACE/NAME, or NAME if only one visible namespace has it. A text in the form of an id is one.
   * @throws QuoinError NOT_FOUND / LOG_NOT_FOUND if no log has the name; INVALID_ARGUMENT / BAD_FIELD if several have
   * it; the error of the work.
   */
  async withId<Call extends CallOptions, Result>(
    log: string,
    call: Call,
    work: (logId: string, call: Call) => Promise<Result>,
  ): Promise<Result> {
    if (ID_PATTERN.test(textField("log", log))) {
      return work(log, call);
    }
    const { timeoutMs = this.#source.timeoutMs } = call;
    const endMs = this.#source.monotonicMs() + timeoutMs;
    const remaining = (): Call => ({ ...call, timeoutMs: Math.max(1, endMs - this.#source.monotonicMs()) });
    const known = this.#ids.get(log);
    if (known !== undefined) {
      try {
        return await work(known, call);
      } catch (thrown) {
        if (!(thrown instanceof QuoinError) || thrown.reason !== "LOG_NOT_FOUND") {
          throw thrown;
        }
        this.#ids.delete(log);
      }
    }
    const logId = await this.#lookUp(log, remaining());
    this.#remember(log, logId);
    return work(logId, remaining());
  }

  async #lookUp(log: string, { timeoutMs, signal, traceparent }: CallOptions): Promise<string> {
    const call = { timeoutMs, signal, traceparent };
    // A namespace has no slash, and a name may have more.
    const slash = log.indexOf("/");
    const found =
      slash < 0
        ? await this.#named(log, call)
        : [await this.#source.find(log.slice(slash + 1), { ...call, namespace: log.slice(0, slash) })];
    const [only, other] = found;
    if (only === undefined) {
      const message = `there is no event log named ${JSON.stringify(log)} in your namespaces`;
      throw new QuoinError({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND", outcome: "not-executed", message });
    }
    if (other === undefined) {
      return only.logId;
    }
    const choices = `${only.namespace}/${log} or ${other.namespace}/${log}`;
    throw badField("log", `is ambiguous: several namespaces have an event log named ${log}; give ${choices}`);
  }

  /** The logs of a name in all namespaces: at least two if there are as many. */
  async #named(name: string, call: CallOptions): Promise<readonly LogInfo[]> {
    const found: LogInfo[] = [];
    for await (const page of this.#source.pages({ ...call, name })) {
      found.push(...page);
      if (found.length > 1) {
        break;
      }
    }
    return found;
  }

  #remember(log: string, logId: string): void {
    if (this.#ids.size >= NAMES_MAX) {
      this.#ids.delete(this.#ids.keys().next().value!);
    }
    this.#ids.set(log, logId);
  }
}
