/** Calls over one connection, each with one answer, the same for every kind of cluster. */

import { type ChannelOptions, Client, credentials, type Metadata } from "@grpc/grpc-js";

/** A method, and the encoding and decoding of its messages. */
export interface Method<Request, Response> {
  /** The path, such as `/coordination.v1.KeyValueService/PutKey`. */
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (message: Buffer) => Response;
}

/** Makes one call, with the metadata that every call of the system has. */
export type Ask = <Request, Response>(method: Method<Request, Response>, request: Request) => Promise<Response>;

/** The same with encoded requests. `timeoutMs` undefined = no limit. */
export type AskBytes = <Response>(
  path: string,
  request: Buffer,
  decode: (message: Buffer) => Response,
  timeoutMs?: number,
) => Promise<Response>;

/** By default, clients of one process share connections; here each client must have its own. */
const OPTIONS: ChannelOptions = { "grpc.use_local_subchannel_pool": 1 };

export class UnaryCalls {
  readonly #client: Client;

  /** @param endpoint host:port, in plain text. */
  constructor(endpoint: string) {
    this.#client = new Client(endpoint, credentials.createInsecure(), OPTIONS);
  }

  /** Rejects with the error of the call, which is made once. `timeoutMs` null = no limit. */
  call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
    request: Request,
    metadata: Metadata,
    timeoutMs: number | null = null,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const answer = (error: Error | null, response: Response | undefined): void => {
        if (error === null && response !== undefined) {
          resolve(response);
        } else {
          reject(error ?? new Error(`${path} got an empty answer`));
        }
      };
      const options = timeoutMs === null ? {} : { deadline: Date.now() + timeoutMs };
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, answer);
    });
  }

  close(): void {
    this.#client.close();
  }
}
