/** Calls over one connection, each answered with one message, the same for every kind of cluster. */

import { type ChannelOptions, Client, credentials, type Metadata } from "@grpc/grpc-js";

/** A method, and how its messages become bytes and come out of them. */
export interface Method<Request, Response> {
  /** Such as `/coordination.v1.KeyValueService/PutKey`. */
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (message: Buffer) => Response;
}

/** Clients of one process share connections unless told otherwise; here each client is to have one of its own. */
const OPTIONS: ChannelOptions = { "grpc.use_local_subchannel_pool": 1 };

export class UnaryCalls {
  readonly #client: Client;

  /** @param endpoint host:port, in plain text. */
  constructor(endpoint: string) {
    this.#client = new Client(endpoint, credentials.createInsecure(), OPTIONS);
  }

  /** Rejects with the error of the call, which is made once. `timeoutMs` null = it may take as long as it takes. */
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
          reject(error ?? new Error(`${path} was answered with nothing`));
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
