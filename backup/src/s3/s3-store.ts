/**
 * Objects in an S3 bucket, below a prefix. It relies only on this: once an object is put, it can be read and is listed.
 * It uses no conditional requests and no renaming.
 */

import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import type { ByteStream } from "../format/index.ts";
import {
  type BackupStore,
  type ByteRange,
  isObjectName,
  LEFTOVER_AGE_MS,
  requireObjectName,
  requirePrefix,
  type S3Location,
  type StoredObject,
} from "../store/index.ts";
import { Download } from "./download.ts";
import { DEFAULT_RETRY_POLICY, RequestRunner, type RetryPolicy } from "./request-runner.ts";
import { connect, type S3Connection } from "./s3-connection.ts";
import type { S3Credentials } from "./s3-credentials.ts";
import { PART_BYTES_DEFAULT, Upload } from "./upload.ts";

export interface S3Options {
  /** Instead of the credentials in the location or in the environment. */
  readonly credentials?: S3Credentials | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Bytes of a part of a large object, at least 5 MiB; this much is in memory. */
  readonly partBytes?: number | undefined;
}

/** An upload that was started, and neither completed nor aborted. */
interface PendingUpload {
  readonly Key: string;
  readonly UploadId: string;
  readonly initiatedMs: number;
}

export class S3Store implements BackupStore {
  readonly #connection: S3Connection;
  readonly #runner: RequestRunner;
  readonly #partBytes: number;

  private constructor(connection: S3Connection, { retry, partBytes }: S3Options) {
    this.#connection = connection;
    this.#runner = new RequestRunner(connection.address, { ...DEFAULT_RETRY_POLICY, ...retry });
    this.#partBytes = partBytes ?? PART_BYTES_DEFAULT;
  }

  /** Sends no request yet. */
  static async open(location: S3Location, options: S3Options): Promise<S3Store> {
    return new S3Store(await connect(location, options.credentials), options);
  }

  describe(): string {
    return this.#connection.address;
  }

  async put(name: string, stream: ByteStream): Promise<void> {
    requireObjectName(name);
    await new Upload(this.#connection, this.#runner, name, this.#partBytes).run(stream);
  }

  async get(name: string, range: ByteRange = { start: 0 }): Promise<ByteStream> {
    requireObjectName(name);
    if (range.end !== undefined && range.end <= range.start) {
      return nothing();
    }
    return new Download(this.#connection, this.#runner, name, range).open();
  }

  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    requirePrefix(prefix);
    const { client, bucket, prefix: own } = this.#connection;
    const command = { Bucket: bucket, Prefix: `${own}${prefix}` };
    for (let page: string | undefined, isLast = false; !isLast; ) {
      const token = page === undefined ? {} : { ContinuationToken: page };
      const { Contents, NextContinuationToken } = await this.#runner.run(
        (abortSignal) => client.send(new ListObjectsV2Command({ ...command, ...token }), { abortSignal }),
        { operation: `list ${prefix}` },
      );
      for (const { Key = "", Size = 0, LastModified } of Contents ?? []) {
        const name = Key.slice(own.length);
        if (isObjectName(name)) {
          yield { name, size: Size, modifiedMs: LastModified?.getTime() ?? 0 };
        }
      }
      page = NextContinuationToken;
      isLast = page === undefined;
    }
  }

  async delete(name: string): Promise<void> {
    requireObjectName(name);
    const { client, bucket, prefix } = this.#connection;
    const command = new DeleteObjectCommand({ Bucket: bucket, Key: `${prefix}${name}` });
    await this.#runner.run<unknown>((abortSignal) => client.send(command, { abortSignal }), {
      operation: `delete ${name}`,
      recover: ({ kind }) => (kind === "not-found" ? true : undefined),
    });
  }

  async sweep(nowMs: number): Promise<number> {
    const old: PendingUpload[] = [];
    for await (const upload of this.#pendingUploads()) {
      if (nowMs - upload.initiatedMs >= LEFTOVER_AGE_MS) {
        old.push(upload);
      }
    }
    const { client, bucket } = this.#connection;
    for (const { Key, UploadId } of old) {
      const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await this.#runner.run<unknown>((abortSignal) => client.send(command, { abortSignal }), {
        operation: "remove leftovers",
        recover: ({ kind, name }) => (kind === "not-found" || name === "NoSuchUpload" ? true : undefined),
      });
    }
    return old.length;
  }

  async close(): Promise<void> {
    this.#connection.client.destroy();
  }

  async *#pendingUploads(): AsyncGenerator<PendingUpload, void, undefined> {
    const { client, bucket, prefix } = this.#connection;
    let markers: { KeyMarker?: string; UploadIdMarker?: string } = {};
    for (let isLast = false; !isLast; ) {
      const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...markers });
      const { Uploads, IsTruncated, NextKeyMarker, NextUploadIdMarker } = await this.#runner.run(
        (abortSignal) => client.send(command, { abortSignal }),
        { operation: "remove leftovers" },
      );
      for (const { Key = "", UploadId, Initiated } of Uploads ?? []) {
        // Not every server respects the prefix.
        if (UploadId !== undefined && Initiated !== undefined && Key.startsWith(prefix)) {
          yield { Key, UploadId, initiatedMs: Initiated.getTime() };
        }
      }
      isLast = IsTruncated !== true || NextKeyMarker === undefined;
      markers = {
        ...(NextKeyMarker === undefined ? {} : { KeyMarker: NextKeyMarker }),
        ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
      };
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
