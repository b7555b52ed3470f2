/** A key client that never retries: one gRPC call for each operation, whatever its outcome. */

import { randomUUID } from "node:crypto";
import { Client, credentials, Metadata, type MethodDefinition, type ServiceError, status } from "@grpc/grpc-js";
import type { TokenSource } from "@quoin/client";
import { GetKeyRequest, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import type { KeyAnswer, KeyOperation } from "../../../node/verify/history/index.ts";

const { getKey, putKey } = serviceDefinitions.KeyValueService;

/** The error of a single attempt; it says whether the request certainly had no effect. */
export class AttemptFailed extends Error {
  readonly code: string;
  readonly outcome: "not-executed" | "unknown";

  constructor({ code, details, metadata }: ServiceError) {
    const [reason = ""] = metadata.get("error-reason");
    super(`${status[code]} ${reason} ${details}`);
    this.code = status[code] ?? "UNKNOWN";
    this.outcome = metadata.get("outcome")[0] === "not-executed" ? "not-executed" : "unknown";
  }
}

export class SingleAttempts {
  readonly #client: Client;
  readonly #tokens: TokenSource;
  readonly #timeoutMs: number;

  /** @param authorities those of the server certificate, in PEM */
  constructor(endpoint: string, authorities: string, tokens: TokenSource, timeoutMs: number) {
    this.#client = new Client(endpoint, credentials.createSsl(Buffer.from(authorities)), {
      // A separate connection, so that the load reaches more than one member.
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#tokens = tokens;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with AttemptFailed, or with a QuoinError if there is no token. */
  async perform(namespace: string, operation: KeyOperation): Promise<KeyAnswer> {
    if (operation.kind === "put") {
      const { key, value } = operation;
      const request = PutKeyRequest.fromPartial({ namespace, key, value: Buffer.from(value) });
      const { created, modRevision } = await this.#call(putKey, request);
      return { kind: "put", created, revision: Number(modRevision) };
    }
    try {
      const found = await this.#call(getKey, GetKeyRequest.fromPartial({ namespace, key: operation.key }));
      return {
        kind: "found",
        value: Buffer.from(found.value).toString(),
        createRevision: Number(found.createRevision),
        modRevision: Number(found.modRevision),
        version: Number(found.version),
        revision: Number(found.revision),
      };
    } catch (error) {
      if (error instanceof AttemptFailed && error.code === "NOT_FOUND") {
        return { kind: "absent" };
      }
      throw error;
    }
  }

  async #call<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const token = await this.#tokens.token();
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    metadata.set("api-version", "v1");
    metadata.set("request-id", randomUUID());
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const options = { deadline: Date.now() + this.#timeoutMs };
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error, response) => {
          if (error !== null) {
            reject(new AttemptFailed(error));
          } else if (response !== undefined) {
            resolve(response);
          }
        },
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}
