/** The client of the AWS library for the location of a store, without the library's own retries. */

import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import tls from "node:tls";
import { S3Client } from "@aws-sdk/client-s3";
import { type S3Location, StoreFailure } from "../store/index.ts";
import { type Credentials, credentialsFromFile, type S3Credentials } from "./s3-credentials.ts";

/** Servers other than AWS accept any region, but require one. */
const REGION_OF_OTHERS = "us-east-1";
const SOCKETS_MAX = 8;

/** A bucket and its connection. */
export interface S3Connection {
  readonly client: S3Client;
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** The address, without secrets. */
  readonly address: string;
}

/**
 * Connects only at the first request. Raises a StoreFailure if the file with certificate authorities cannot be read.
 */
export async function connect(location: S3Location, credentials: S3Credentials | undefined): Promise<S3Connection> {
  const { bucket, prefix, endpoint, pathStyle } = location;
  const address = addressOf(location);
  const region = location.region ?? (endpoint === undefined ? undefined : REGION_OF_OTHERS);
  const provider = credentials === undefined ? fromFile(location) : identityOf(credentials);
  const client = new S3Client({
    forcePathStyle: pathStyle,
    maxAttempts: 1,
    // Not every server supports these checksums. Each body has its MD5 instead, and an object has its own hash.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: SOCKETS_MAX }),
      httpsAgent: new HttpsAgent({
        keepAlive: true,
        maxSockets: SOCKETS_MAX,
        ...(await authorities(location, address)),
      }),
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(provider === undefined ? {} : { credentials: provider }),
  });
  return { client, bucket, prefix, address };
}

function addressOf({ bucket, prefix, endpoint }: S3Location): string {
  return `s3://${bucket}/${prefix}${endpoint === undefined ? "" : `?endpoint=${endpoint}`}`;
}

function identityOf({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials): Credentials {
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

function fromFile({ credentialsFile, profile }: S3Location): ReturnType<typeof credentialsFromFile> | undefined {
  return credentialsFile === undefined ? undefined : credentialsFromFile(credentialsFile, profile);
}

/** The authorities that Node trusts. Before Node 22.15 they do not include those of NODE_EXTRA_CA_CERTS. */
function trustedByDefault(): readonly string[] {
  const {
    getCACertificates,
    rootCertificates,
  }: Pick<typeof tls, "rootCertificates"> & {
    readonly getCACertificates?: (type: "default") => string[];
  } = tls;
  return getCACertificates?.("default") ?? rootCertificates;
}

async function authorities({ caFile }: S3Location, store: string): Promise<{ ca?: string[] }> {
  if (caFile === undefined) {
    return {};
  }
  try {
    return { ca: [...trustedByDefault(), await readFile(caFile, "utf8")] };
  } catch (error) {
    const reason = `the ca-file cannot be read: ${error instanceof Error ? error.message : error}`;
    throw new StoreFailure({ kind: "other", store, operation: "connect", reason, cause: error });
  }
}
