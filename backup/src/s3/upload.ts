/**
 * Puts one object into a bucket: a small object with one request, a larger one in parts. One part at a time is in
 * memory. In both cases the object appears completely or not at all. A failed upload is aborted; `S3Store.sweep`
 * removes the parts of uploads that could not be aborted.
 */

import { createHash, getFips } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { ByteSource, type ByteStream } from "../format/index.ts";
import { StoreFailure } from "../store/index.ts";
import type { RequestRunner } from "./request-runner.ts";
import type { S3Connection } from "./s3-connection.ts";

/** S3 requires parts of at least 5 MiB, and at most 10,000 of them. */
export const PART_BYTES_DEFAULT = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
/** Parts grow with the object: twice as large after a thousand parts, four times after another thousand. */
const PARTS_OF_ONE_SIZE = 1000;
const GROWTH_STEPS_MAX = 2;

interface Part {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

export class Upload {
  readonly #connection: S3Connection;
  readonly #runner: RequestRunner;
  readonly #name: string;
  readonly #target: { readonly Bucket: string; readonly Key: string };
  readonly #partBytes: number;

  constructor(connection: S3Connection, runner: RequestRunner, name: string, partBytes: number) {
    this.#connection = connection;
    this.#runner = runner;
    this.#name = name;
    this.#target = { Bucket: connection.bucket, Key: `${connection.prefix}${name}` };
    this.#partBytes = partBytes;
  }

  /** Raises a StoreFailure, or an error of the stream. */
  async run(stream: ByteStream): Promise<void> {
    const source = new ByteSource(stream);
    try {
      const first = await source.readUpTo(this.#partBytes);
      if (await source.isAtEnd()) {
        await this.#putWhole(first);
      } else {
        await this.#putParts(first, source);
      }
    } finally {
      await source.close();
    }
  }

  get #operation(): string {
    return `put ${this.#name}`;
  }

  async #putWhole(body: Uint8Array): Promise<void> {
    const command = { ...this.#target, Body: body, ContentLength: body.length, ...contentMd5(body) };
    await this.#runner.run(
      (abortSignal) => this.#connection.client.send(new PutObjectCommand(command), { abortSignal }),
      {
        operation: this.#operation,
        bytes: body.length,
      },
    );
  }

  async #putParts(first: Uint8Array, source: ByteSource): Promise<void> {
    const { UploadId } = await this.#runner.run(
      (abortSignal) => this.#connection.client.send(new CreateMultipartUploadCommand(this.#target), { abortSignal }),
      { operation: this.#operation },
    );
    if (UploadId === undefined) {
      throw this.#failure("the server returned no id for the upload");
    }
    try {
      const { parts, bytes } = await this.#sendParts(UploadId, first, source);
      await this.#complete(UploadId, parts, bytes);
    } catch (error) {
      await this.#abort(UploadId);
      throw error;
    }
  }

  async #sendParts(UploadId: string, first: Uint8Array, source: ByteSource): Promise<{ parts: Part[]; bytes: number }> {
    const parts: Part[] = [];
    let bytes = 0;
    for (let body = first; body.length > 0; body = await source.readUpTo(this.#sizeOfPart(parts.length))) {
      if (parts.length === PARTS_MAX) {
        throw this.#failure(`the object is larger than ${bytes} bytes, the most that ${PARTS_MAX} parts can hold`);
      }
      const PartNumber = parts.length + 1;
      const command = {
        ...this.#target,
        UploadId,
        PartNumber,
        Body: body,
        ContentLength: body.length,
        ...contentMd5(body),
      };
      const { ETag } = await this.#runner.run(
        (abortSignal) => this.#connection.client.send(new UploadPartCommand(command), { abortSignal }),
        { operation: this.#operation, bytes: body.length },
      );
      parts.push({ PartNumber, ETag });
      bytes += body.length;
    }
    return { parts, bytes };
  }

  #sizeOfPart(position: number): number {
    return this.#partBytes * 2 ** Math.min(GROWTH_STEPS_MAX, Math.floor(position / PARTS_OF_ONE_SIZE));
  }

  async #complete(UploadId: string, Parts: readonly Part[], bytes: number): Promise<void> {
    const command = { ...this.#target, UploadId, MultipartUpload: { Parts: [...Parts] } };
    await this.#runner.run<unknown>(
      (abortSignal) => this.#connection.client.send(new CompleteMultipartUploadCommand(command), { abortSignal }),
      {
        operation: this.#operation,
        bytes,
        // The answer to an earlier attempt was lost: the upload no longer exists, because the object does.
        recover: async ({ name, kind }, isFirst) =>
          !isFirst && (name === "NoSuchUpload" || kind === "not-found") && (await this.#exists(bytes))
            ? true
            : undefined,
      },
    );
  }

  async #exists(bytes: number): Promise<boolean> {
    const { ContentLength } = await this.#runner.run(
      (abortSignal) => this.#connection.client.send(new HeadObjectCommand(this.#target), { abortSignal }),
      { operation: this.#operation },
    );
    return ContentLength === bytes;
  }

  /** The upload has already failed, so a failure to remove its parts is not reported. */
  async #abort(UploadId: string): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.#target, UploadId });
    try {
      await this.#runner.run((abortSignal) => this.#connection.client.send(command, { abortSignal }), {
        operation: this.#operation,
      });
    } catch (error) {
      if (!(error instanceof StoreFailure)) {
        throw error;
      }
    }
  }

  #failure(reason: string): StoreFailure {
    return new StoreFailure({ kind: "other", store: this.#connection.address, operation: this.#operation, reason });
  }
}

/** Every S3 server compares it with the received body. If FIPS forbids MD5, it is left out. */
function contentMd5(body: Uint8Array): { ContentMD5?: string } {
  return getFips() === 1 ? {} : { ContentMD5: createHash("md5").update(body).digest("base64") };
}
