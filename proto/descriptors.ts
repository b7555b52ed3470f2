/** The contract as protobuf descriptors, for gRPC server reflection. */

import { readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";

/**
 * Returns the encoded google.protobuf.FileDescriptorSet of all files of the contract and of the files that they import.
 */
export function readDescriptorSet(): Buffer {
  return readFileSync(new URL("./generated/descriptors.binpb", import.meta.url));
}

/** Returns the same files, each as an encoded google.protobuf.FileDescriptorProto. */
export function readFileDescriptors(): Buffer[] {
  const files: Buffer[] = [];
  const set = new BinaryReader(readDescriptorSet());
  while (set.pos < set.len) {
    // A FileDescriptorSet has one field only, the repeated field 1.
    set.tag();
    files.push(Buffer.from(set.bytes()));
  }
  return files;
}
