/** A client of an SDK in another language, with the interface that loads use. Values are texts. */

import { QuoinError, type QuoinErrorCode } from "@quoin/client";
import type { LoadClient } from "../../../node/test/harness/index.ts";
import { isRecord, type Value } from "../driver/index.ts";

/** The runner has failed, or what it carries out: neither an answer nor an error of the SDK. */
export class RemoteFailure extends Error {}

/** Calls an operation of `operations.yaml`, and resolves with the runner's answer. */
export type AskSdk = (operation: string, given: Fields) => Promise<Fields>;

type Fields = Readonly<Record<string, Value>>;

export class RemoteClient implements LoadClient {
  readonly #ask: AskSdk;
  readonly close: () => Promise<void>;

  constructor(ask: AskSdk, close: () => Promise<void>) {
    this.#ask = ask;
    this.close = close;
  }

  readonly keyValue: LoadClient["keyValue"] = {
    get: async (namespace, key) => {
      const found = await this.#call("kv.get", { namespace, key });
      return { ...entryOf(found), revision: numberIn(found, "revision") };
    },
    put: async (namespace, key, value, { ttlSeconds } = {}) => {
      const put = await this.#call("kv.put", { namespace, key, value, ttl_seconds: ttlSeconds });
      return { created: put.created === true, modRevision: numberIn(put, "mod_revision") };
    },
    delete: async (namespace, key) => {
      return { revision: numberIn(await this.#call("kv.delete", { namespace, key }), "revision") };
    },
    compareAndSwap: async (namespace, key, value, { ttlSeconds, expectedValue, expectedModRevision }) => {
      const swap = await this.#call("kv.compare_and_swap", {
        namespace,
        key,
        value,
        ttl_seconds: ttlSeconds,
        expected_value: expectedValue?.toString(),
        expected_mod_revision: expectedModRevision,
      });
      return {
        success: swap.success === true,
        currentExists: swap.current_exists === true,
        currentValue: typeof swap.current_value === "string" ? Buffer.from(swap.current_value) : undefined,
        modRevision: numberIn(swap, "mod_revision"),
        revision: numberIn(swap, "revision"),
      };
    },
    pages: (namespace, { prefix, pageSize }) => this.#pages(namespace, prefix, pageSize),
  };

  readonly logs: LoadClient["logs"] = {
    create: async (name) => ({ logId: String((await this.#call("logs.create", { name })).log_id) }),
    append: async (log, payload, { key, expectedSequence }) => {
      const appended = await this.#call("logs.append", {
        log_id: log,
        payload,
        idempotency_key: key,
        expected_sequence: expectedSequence,
      });
      return { sequence: numberIn(appended, "sequence"), replayed: appended.replayed === true };
    },
    appendBatch: async (log, payloads, { key, expectedSequence }) => {
      const appended = await this.#call("logs.append_batch", {
        log_id: log,
        payloads,
        idempotency_key: key,
        expected_sequence: expectedSequence,
      });
      const sequences = listIn(appended, "sequences").map(Number);
      return { sequences, replayed: appended.replayed === true };
    },
    read: async (log, { fromSequence, limit }) => {
      const page = await this.#call("logs.read", { log_id: log, from_sequence: fromSequence, limit });
      const events = listIn(page, "events").map((event) => {
        const { sequence, key: own, idempotency_key: key = own, payload } = event as Fields;
        return {
          sequence: Number(sequence),
          key: typeof key === "string" && key !== "" ? key : undefined,
          payload: Buffer.from(String(payload ?? "")),
        };
      });
      return { events, lastSequence: numberIn(page, "last_sequence") };
    },
  };

  async *#pages(namespace: string, prefix = "", pageSize = 100) {
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const page: Fields = await this.#call("kv.list", {
        namespace,
        prefix,
        page_size: pageSize,
        page_token: pageToken,
      });
      const next = String(page.next_page_token ?? "");
      yield {
        items: listIn(page, "items").map((item) => entryOf(item as Fields)),
        nextPageToken: next,
        revision: numberIn(page, "revision"),
      };
      pageToken = next === "" ? undefined : next;
    }
  }

  async #call(operation: string, given: Fields): Promise<Fields> {
    const { result, error } = await this.#ask(operation, given);
    if (isRecord(error)) {
      throw errorOf(error);
    }
    return isRecord(result) ? result : {};
  }
}

function entryOf(fields: Fields) {
  return {
    key: String(fields.key),
    value: Buffer.from(String(fields.value ?? "")),
    createRevision: numberIn(fields, "create_revision"),
    modRevision: numberIn(fields, "mod_revision"),
    version: numberIn(fields, "version"),
  };
}

/** A number of an answer. Its absence is a fault of the SDK or of its runner. */
function numberIn(fields: Fields, name: string): number {
  const number = Number(fields[name] ?? Number.NaN);
  if (!Number.isSafeInteger(number)) {
    throw new RemoteFailure(`the answer has no number ${name}: ${JSON.stringify(fields)}`);
  }
  return number;
}

function listIn(fields: Fields, name: string): readonly Value[] {
  const list = fields[name];
  return Array.isArray(list) ? list : [];
}

function errorOf({ code, reason, outcome, details, message, request_id: requestId }: Fields): QuoinError {
  return new QuoinError({
    code: String(code) as QuoinErrorCode,
    reason: String(reason ?? ""),
    outcome: outcome === "not-executed" ? "not-executed" : "unknown",
    details: new Map(Object.entries(isRecord(details) ? details : {}).map(([name, value]) => [name, String(value)])),
    message: String(message ?? ""),
    requestId: typeof requestId === "string" ? requestId : undefined,
  });
}
