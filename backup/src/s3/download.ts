/**
 * Reads one object of a bucket. If the connection is lost, or no byte comes for too long, it requests the rest again.
 * If the object was replaced in the meantime, it never mixes the two.
 */

import { Readable } from "node:stream";
import { GetObjectCommand, type GetObjectCommandOutput } from "@aws-sdk/client-s3";
import type { ByteStream } from "../format/index.ts";
import { type ByteRange, StoreFailure } from "../store/index.ts";
import type { RequestRunner } from "./request-runner.ts";
import type { S3Connection } from "./s3-connection.ts";
import { ConnectionLost, failureOf, problemOf } from "./s3-errors.ts";

/** An answer with an unread body. */
interface Opened {
  readonly body: Readable;
  readonly bytes: number;
  readonly etag: string | undefined;
}

export class Download {
  readonly #connection: S3Connection;
  readonly #runner: RequestRunner;
  readonly #operation: string;
  readonly #target: { readonly Bucket: string; readonly Key: string };
  readonly #end: number | undefined;
  #position: number;

  constructor(connection: S3Connection, runner: RequestRunner, name: string, { start, end }: ByteRange) {
    this.#connection = connection;
    this.#runner = runner;
    this.#operation = `get ${name}`;
    this.#target = { Bucket: connection.bucket, Key: `${connection.prefix}${name}` };
    this.#position = start;
    this.#end = end;
  }

  /** Raises a StoreFailure if the object cannot be opened. */
  async open(): Promise<ByteStream> {
    return this.#read(await this.#request());
  }

  async *#read(first: Opened): AsyncGenerator<Uint8Array, void, undefined> {
    const end = this.#position + first.bytes;
    let opened = first;
    let failures = 0;
    for (;;) {
      const before = this.#position;
      const problem: unknown = yield* this.#readBody(opened, end);
      if (problem === undefined) {
        return;
      }
      failures = this.#position > before ? 1 : failures + 1;
      const judged = problemOf(problem);
      if (!judged.isRetriable || failures >= this.#runner.policy.attempts) {
        throw failureOf(this.#connection.address, this.#operation, judged);
      }
      await this.#runner.pause(failures);
      opened = await this.#request();
      this.#checkSame(first, opened, end);
    }
  }

  /** @returns the error that stopped the read before the end; undefined if there was none */
  async *#readBody({ body }: Opened, end: number): AsyncGenerator<Uint8Array, unknown, undefined> {
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        let next: IteratorResult<Uint8Array>;
        try {
          next = await this.#next(body, chunks);
        } catch (error) {
          return error;
        }
        if (next.done === true) {
          return this.#position === end ? undefined : new ConnectionLost("the answer ended too early");
        }
        this.#position += next.value.length;
        if (this.#position > end) {
          return new Error("the answer has more bytes than it announced");
        }
        yield next.value;
      }
    } finally {
      body.destroy();
    }
  }

  /** Only the time of the server counts, not that of the reader. */
  async #next(body: Readable, chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    const { deadlineMs } = this.#runner.policy;
    const timer = setTimeout(
      () => body.destroy(new ConnectionLost(`no byte came for ${deadlineMs / 1000} s`)),
      deadlineMs,
    );
    try {
      return await chunks.next();
    } finally {
      clearTimeout(timer);
    }
  }

  #request(): Promise<Opened> {
    const isWhole = this.#position === 0 && this.#end === undefined;
    const range = isWhole ? {} : { Range: `bytes=${this.#position}-${this.#end === undefined ? "" : this.#end - 1}` };
    return this.#runner.run<Opened>(
      async (abortSignal) => {
        const command = new GetObjectCommand({ ...this.#target, ...range });
        return openedOf(await this.#connection.client.send(command, { abortSignal }));
      },
      { operation: this.#operation, recover: ({ name }) => (name === "InvalidRange" ? nothing() : undefined) },
    );
  }

  #checkSame(first: Opened, again: Opened, end: number): void {
    if (again.etag !== first.etag || this.#position + again.bytes !== end) {
      again.body.destroy();
      throw new StoreFailure({
        kind: "other",
        store: this.#connection.address,
        operation: this.#operation,
        reason: "the object was replaced while it was read",
      });
    }
  }
}

/** For a range that begins after the end of the object. */
function nothing(): Opened {
  return { body: Readable.from([]), bytes: 0, etag: undefined };
}

function openedOf({ Body, ContentLength, ETag }: GetObjectCommandOutput): Opened {
  if (!(Body instanceof Readable) || ContentLength === undefined) {
    throw new Error("the answer has no length");
  }
  return { body: Body, bytes: ContentLength, etag: ETag };
}
