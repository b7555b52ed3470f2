/**
 * Appends that the SDK does not send, by HTTP: without an idempotency key, and so only once, cut off in the middle of the
 * body, or larger than a message of gRPC.
 */

import { request } from "node:http";

/** The target of an append, its token, and its timeout. */
export interface AppendTarget {
  /** URL of a member. */
  readonly endpoint: string;
  readonly log: string;
  readonly token: string;
  readonly timeoutMs: number;
}

/** The outcome of an append that was sent once. */
type SentOnce =
  | { readonly kind: "appended"; readonly sequence: number }
  | { readonly kind: "conflict"; readonly lastSequence: number }
  /** The outcome is unknown. */
  | { readonly kind: "unknown" }
  /** Nothing was stored. `code` and `message` are those of the refusal. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

/** The fields of a success or of a refusal. */
interface Answer {
  readonly sequence?: number;
  readonly code?: string;
  readonly message?: string;
}

/** Announced bytes of a body that never come. */
const MISSING_BYTES = 100;

/** Appends an event without a key. Never rejects because of a lost member. */
export async function appendOnce(
  { endpoint, log, token, timeoutMs }: AppendTarget,
  payload: string,
  expectedSequence: string | undefined,
): Promise<SentOnce> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(expectedSequence !== undefined && { "expected-sequence": expectedSequence }),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(`${endpoint}/logs/${log}/append`, { method: "POST", headers, body: payload, signal });
    const { sequence, code = "", message = "" } = (await answer.json()) as Answer;
    if (answer.ok && sequence !== undefined) {
      return { kind: "appended", sequence };
    }
    if (code === "sequence_conflict") {
      return { kind: "conflict", lastSequence: Number(answer.headers.get("last-sequence")) };
    }
    return code === "timeout" ? { kind: "unknown" } : { kind: "refused", code, message };
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Error(`${endpoint} answered something that is no JSON`, { cause: error });
    }
    return { kind: "unknown" };
  }
}

/** Appends the lines of a batch, and returns their sequences. Rejects without them. */
export async function appendLines(
  { endpoint, log, token, timeoutMs }: AppendTarget,
  key: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<readonly number[]> {
  const answer = await fetch(`${endpoint}/logs/${log}/append_batch?delimiter=%0A`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "idempotency-key": key },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { sequences, message } = (await answer.json()) as { readonly sequences?: number[]; readonly message?: string };
  if (sequences === undefined) {
    throw new Error(`the batch was refused with the status ${answer.status}: ${message}`);
  }
  return sequences;
}

/** Sends the beginning of a batch and breaks the connection: an incomplete batch has no effect. */
export async function cutOffBatch(
  { endpoint, log, token, timeoutMs }: AppendTarget,
  key: string,
  payloads: readonly string[],
): Promise<void> {
  const body = Buffer.from(payloads.map((payload) => `${payload}\n`).join(""));
  const client = request(`${endpoint}/logs/${log}/append_batch?delimiter=%0A`, {
    method: "POST",
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      "idempotency-key": key,
      "content-length": body.length + MISSING_BYTES,
    },
    signal: AbortSignal.timeout(timeoutMs),
  });
  // A lost member or an early answer does not change that.
  client.on("error", () => undefined).on("response", (response) => response.resume());
  const closed = new Promise((resolve) => client.once("close", resolve));
  client.write(body, () => client.destroy());
  await closed;
}
