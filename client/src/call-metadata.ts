/** The metadata of every call. */

import { Metadata } from "@grpc/grpc-js";

/** The API version of this client. */
const apiVersion = "v1";

/** The metadata of a call. */
export function callMetadata(token: string, requestId: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  metadata.set("api-version", apiVersion);
  metadata.set("request-id", requestId);
  return metadata;
}
