/** S3 buckets as stores. It loads the AWS library: import it only when a bucket is used. */

export type { RetryPolicy } from "./request-runner.ts";
export type { S3Credentials } from "./s3-credentials.ts";
export { type S3Options, S3Store } from "./s3-store.ts";
