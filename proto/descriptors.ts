/** The contract as protobuf describes itself, for gRPC server reflection. */

import { readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";

const location = new URL("./generated/descriptors.binpb", import.meta.url);

/** Reads the encoded google.protobuf.FileDescriptorSet of all files of the contract and of those that they import. */
export function readDescriptorSet(): Buffer {
  return readFileSync(location);
}

/** The same, as the encoded google.protobuf.FileDescriptorProto of each file. */
export function readFileDescriptors(): Buffer[] {
  const files: Buffer[] = [];
  const set = new BinaryReader(readDescriptorSet());
  while (set.pos < set.len) {
    // A FileDescriptorSet is nothing but its repeated field 1.
    set.tag();
    files.push(Buffer.from(set.bytes()));
  }
  return files;
}
