/** Requests and answers of the API server, through sockets or not. */

/** A request as it arrives. */
export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The body. */
  readonly text: string;
}

/** The part of node:http's ServerResponse that writes answers. */
export interface Reply {
  writeHead(status: number, headers?: Record<string, string>): this;
  flushHeaders(): void;
  write(text: string): void;
  end(text?: string): void;
  destroy(): void;
  on(event: "close", listener: () => void): void;
}
