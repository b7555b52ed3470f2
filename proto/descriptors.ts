/** The contract as protobuf describes itself, for gRPC server reflection. */

import { readFileSync } from "node:fs";

const location = new URL("./generated/descriptors.binpb", import.meta.url);

/** Reads the encoded google.protobuf.FileDescriptorSet of all files of the contract and of those that they import. */
export function readDescriptorSet(): Buffer {
  return readFileSync(location);
}
