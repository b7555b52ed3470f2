/**
 * Operations of a history, performed with the SDK as an application would, and their answers in the form of a history.
 */

import { type CallOptions, QuoinError } from "@quoin/client";
import type { KeyAnswer, KeyOperation } from "../../verify/history/index.ts";
import type { LoadClient } from "./load-client.ts";

const NAMESPACE = "default";
const MS_PER_SECOND = 1_000;

/** The answer of the service; a missing key is an answer too. Rejects with a QuoinError if there is none. */
export async function performKeyOperation(
  { keyValue }: Pick<LoadClient, "keyValue">,
  operation: KeyOperation,
  options: CallOptions = {},
): Promise<KeyAnswer> {
  const { key } = operation;
  switch (operation.kind) {
    case "get":
      return orAbsent(async () => {
        const found = await keyValue.get(NAMESPACE, key, options);
        const { value, createRevision, modRevision, version, revision } = found;
        return { kind: "found", value: textOf(value), createRevision, modRevision, version, revision };
      });
    case "put": {
      const ttlSeconds = secondsOf(operation.ttlMs);
      const { created, modRevision } = await keyValue.put(NAMESPACE, key, operation.value, { ...options, ttlSeconds });
      return { kind: "put", created, revision: modRevision };
    }
    case "delete":
      return orAbsent(async () => {
        const { revision } = await keyValue.delete(NAMESPACE, key, options);
        return { kind: "deleted", revision };
      });
    case "compare-and-swap": {
      const { expectedValue, expectedModRevision } = operation;
      const result = await keyValue.compareAndSwap(NAMESPACE, key, operation.newValue, {
        ...options,
        ttlSeconds: secondsOf(operation.ttlMs),
        expectedValue,
        expectedModRevision,
      });
      const { success, currentExists, currentValue, modRevision, revision } = result;
      if (success) {
        return { kind: "swapped", revision };
      }
      const current = currentExists ? { value: textOf(currentValue ?? new Uint8Array(0)), modRevision } : null;
      return { kind: "not-swapped", current, revision };
    }
  }
}

async function orAbsent(ask: () => Promise<KeyAnswer>): Promise<KeyAnswer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof QuoinError && error.reason === "KEY_NOT_FOUND" && error.outcome === "not-executed") {
      return { kind: "absent" };
    }
    throw error;
  }
}

/** The service takes whole seconds only. */
function secondsOf(ttlMs: number | undefined): number | undefined {
  return ttlMs === undefined ? undefined : ttlMs / MS_PER_SECOND;
}

function textOf(value: Uint8Array): string {
  return Buffer.from(value).toString();
}
