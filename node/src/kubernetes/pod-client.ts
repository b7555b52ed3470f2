/**
 * Reads and labels pods through the Kubernetes API server, as the service account whose files are mounted into this
 * pod.
 *
 * Each call reads the files, because tokens and authorities change while the process runs. Each call opens its own
 * connection: there are few calls, and none may wait for a connection that a lost server has left behind.
 */

import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";

/** Deadline of a call, in milliseconds: a healthy server answers within a few. */
const CALL_MS_MAX = 5_000;
/** No object of the API server is larger. */
const ANSWER_BYTES_MAX = 3 * 1024 * 1024;
const ROLE_LABEL = "quoin.dev/role";
const TERM_ANNOTATION = "quoin.dev/term";

export interface PodClientOptions {
  /** Name or address of the API server. */
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
  /** Directory with the files `token` and `ca.crt` of the account. */
  readonly accountDirectory: string;
}

/** The role and term in a pod's labels, and the version of the pod that contains them. */
export interface LabelledPod {
  readonly resourceVersion: string;
  readonly role: string | null;
  readonly term: number | null;
}

/** The server has refused a call, or has not answered it. */
export class PodClientError extends Error {
  /** Another client has changed the pod since it was read. */
  readonly isConflict: boolean;

  constructor(message: string, { isConflict = false, cause }: { isConflict?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isConflict = isConflict;
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

export class PodClient {
  readonly #options: PodClientOptions;

  constructor(options: PodClientOptions) {
    this.#options = options;
  }

  /** Returns null if there is no such pod. Rejects with a PodClientError. */
  async read(name: string, signal: AbortSignal): Promise<LabelledPod | null> {
    const { status, text } = await this.#call("GET", name, null, signal);
    if (status === 404) {
      return null;
    }
    requireOk(status, text);
    return podOf(text);
  }

  /** Labels the pod unless it has changed since this version. Rejects with a PodClientError. */
  async label(
    name: string,
    { resourceVersion, role, term }: { readonly resourceVersion: string; readonly role: string; readonly term: number },
    signal: AbortSignal,
  ): Promise<void> {
    const metadata = {
      resourceVersion,
      labels: { [ROLE_LABEL]: role },
      annotations: { [TERM_ANNOTATION]: String(term) },
    };
    const { status, text } = await this.#call("PATCH", name, JSON.stringify({ metadata }), signal);
    requireOk(status, text);
  }

  async #call(method: "GET" | "PATCH", pod: string, body: string | null, signal: AbortSignal): Promise<Answer> {
    const { host, port, namespace, accountDirectory } = this.#options;
    try {
      const [token, ca] = await Promise.all([
        readFile(join(accountDirectory, "token"), "utf8"),
        readFile(join(accountDirectory, "ca.crt")),
      ]);
      const patch = body === null ? {} : { "content-type": "application/merge-patch+json" };
      return await exchange(
        {
          method,
          host,
          port,
          ca,
          agent: false,
          path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`,
          headers: { authorization: `Bearer ${token.trim()}`, accept: "application/json", ...patch },
          signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS_MAX)]),
        },
        body,
      );
    } catch (error) {
      throw new PodClientError(`${method} of pod ${pod}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}

function exchange(options: RequestOptions, body: string | null): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(options, (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    call.once("error", reject);
    call.end(body ?? undefined);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A server's own message may be long; its first words name the problem. */
function requireOk(status: number, text: string): void {
  if (status < 200 || status > 299) {
    throw new PodClientError(`the API server answers ${status}: ${text.slice(0, 200)}`, { isConflict: status === 409 });
  }
}

function podOf(text: string): LabelledPod {
  let pod: { metadata?: { resourceVersion?: unknown; labels?: object; annotations?: object } };
  try {
    pod = JSON.parse(text);
  } catch (error) {
    throw new PodClientError("the answer of the API server is not JSON", { cause: error });
  }
  const { resourceVersion, labels = {}, annotations = {} } = pod.metadata ?? {};
  if (typeof resourceVersion !== "string") {
    throw new PodClientError("the answer of the API server is not a pod");
  }
  const role: unknown = Object.entries(labels).find(([name]) => name === ROLE_LABEL)?.[1];
  const term = Number(Object.entries(annotations).find(([name]) => name === TERM_ANNOTATION)?.[1] ?? Number.NaN);
  return {
    resourceVersion,
    role: typeof role === "string" ? role : null,
    term: Number.isSafeInteger(term) && term >= 0 ? term : null,
  };
}
