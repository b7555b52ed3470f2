/**
 * The contract of gRPC with its comments: services, messages and enums, as buf compiles the files in proto/. It needs no
 * network, and writes only into the temporary folder of the system.
 */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, type DescField, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PACKAGE = "coordination.v1";
/** Numbers of fields in descriptor.proto; comments are found by paths of such numbers and positions. */
const SYNTAX = 12;
const SCALARS: ReadonlyMap<number, string> = new Map([
  [3, "int64"],
  [5, "int32"],
  [8, "bool"],
  [9, "string"],
  [12, "bytes"],
]);

/** A file of the contract. Comments are paragraphs of plain text; "" = none. */
export interface ContractFile {
  /** Name without folder and ending, such as `key_value`. */
  readonly name: string;
  readonly comment: string;
  readonly services: readonly ContractService[];
  readonly messages: readonly ContractMessage[];
  readonly enums: readonly ContractEnum[];
}

export interface ContractService {
  readonly name: string;
  readonly comment: string;
  readonly methods: readonly ContractMethod[];
}

export interface ContractMethod {
  readonly name: string;
  readonly comment: string;
  /** Names of messages. */
  readonly input: string;
  readonly output: string;
  readonly isStream: boolean;
}

export interface ContractMessage {
  readonly name: string;
  readonly comment: string;
  readonly fields: readonly ContractField[];
}

export interface ContractField {
  readonly name: string;
  readonly type: FieldType;
  readonly comment: string;
}

/** The type of a field. `of` is a scalar, or the name of a message or an enum of the contract. */
export interface FieldType {
  readonly label: "one" | "optional" | "repeated" | "map";
  readonly of: string;
  readonly isDefined: boolean;
}

export interface ContractEnum {
  /** With the name of the message around it, such as `KeyEvent.Type`. */
  readonly name: string;
  readonly comment: string;
  readonly values: readonly { readonly name: string; readonly comment: string }[];
}

/** Reads the files of the contract. Rejects with the messages of buf if they do not compile. */
export async function readContract(): Promise<readonly ContractFile[]> {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, await compile()));
  return [...registry.files].filter(({ proto }) => proto.package === PACKAGE).map(contractFile);
}

async function compile(): Promise<Buffer> {
  const directory = await mkdtemp(path.join(tmpdir(), "quoin-api-"));
  try {
    const image = path.join(directory, "contract.binpb");
    await promisify(execFile)(path.join(ROOT, "node_modules/.bin/buf"), ["build", "--output", image], {
      cwd: path.join(ROOT, "proto"),
      env: { ...process.env, BUF_CACHE_DIR: directory },
    });
    return await readFile(image);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function contractFile(file: DescFile): ContractFile {
  const comments = commentsOf(file);
  const comment = (...at: readonly number[]): string => comments.get(at.join(".")) ?? "";
  const messages = file.messages.map((message, at) => ({
    name: message.name,
    comment: comment(4, at),
    fields: message.fields.map((field, position) => ({
      name: field.name,
      type: typeOf(field),
      comment: comment(4, at, 2, position),
    })),
  }));
  const enums = file.enums.map((one, at) => ({
    name: one.name,
    comment: comment(5, at),
    values: one.values.map(({ name }, position) => ({ name, comment: comment(5, at, 2, position) })),
  }));
  const nested = file.messages.flatMap((message, at) =>
    message.nestedEnums.map((one, inner) => ({
      name: `${message.name}.${one.name}`,
      comment: comment(4, at, 4, inner),
      values: one.values.map(({ name }, position) => ({ name, comment: comment(4, at, 4, inner, 2, position) })),
    })),
  );
  return {
    name: path.basename(file.name),
    comment: comment(SYNTAX),
    services: file.services.map((service, at) => ({
      name: service.name,
      comment: comment(6, at),
      methods: service.methods.map(({ name, input, output, methodKind }, position) => ({
        name,
        comment: comment(6, at, 2, position),
        input: input.name,
        output: output.name,
        isStream: methodKind === "server_streaming",
      })),
    })),
    messages,
    enums: [...enums, ...nested],
  };
}

/** The comments of a file by the path of what they describe. */
function commentsOf({ proto }: DescFile): ReadonlyMap<string, string> {
  return new Map(
    (proto.sourceCodeInfo?.location ?? [])
      .filter(({ leadingComments }) => leadingComments !== "")
      .map(({ path: at, leadingComments }) => [at.join("."), unwrapped(leadingComments)]),
  );
}

/** Joins the lines of each paragraph and of each item of a list. */
function unwrapped(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim()
    .replaceAll(/(?<!\n)\n(?!\n|- )/g, " ")
    .replaceAll(/:\n- /g, ":\n\n- ");
}

function typeOf(field: DescField): FieldType {
  if (field.fieldKind === "map") {
    return { label: "map", of: `${SCALARS.get(field.mapKey)} to ${SCALARS.get(field.scalar ?? 0)}`, isDefined: false };
  }
  const label = field.fieldKind === "list" ? "repeated" : field.proto.proto3Optional ? "optional" : "one";
  const defined = field.message ?? field.enum;
  if (defined !== undefined) {
    return { label, of: defined.typeName.slice(PACKAGE.length + 1), isDefined: true };
  }
  const scalar = SCALARS.get(field.scalar ?? 0);
  if (scalar === undefined) {
    throw new Error(`the API reference has no name for the type of ${field.parent.name}.${field.name}`);
  }
  return { label, of: scalar, isDefined: false };
}
