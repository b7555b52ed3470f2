/**
 * Generates the files that derive from the protobuf definitions, and checks the definitions themselves.
 *
 * The derived files are in `generated/`: the TypeScript of each definition, the descriptor set for server reflection,
 * the table of fields for the strict check of incoming bytes, and the table of the codecs of each method. Tools that npm has installed generate them, without
 * any download, and the same on every machine. `baseline.binpb` is not a derived file: it is the contract that clients
 * rely on, and only proto:accept changes it.
 *
 * Every function takes the folder of the contract, so that tests can work on a copy of it.
 */

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as FieldLabel,
  FieldDescriptorProto_Type as FieldType,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

/** The folder of the contract: the one above this file. */
export const CONTRACT_DIRECTORY = fileURLToPath(new URL("..", import.meta.url));

/** The contract that clients rely on, as a buf image. */
export const BASELINE_NAME = "baseline.binpb";

/** Programs that npm has installed: buf, the plugin that buf starts by name, and the node that runs both. */
const PROGRAM_DIRECTORY = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));

/**
 * The definitions do not compile, or contain something that the contract does not allow. The message says what and
 * where.
 */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
}

/** The result of a run of buf. */
export interface BufResult {
  readonly succeeded: boolean;
  /** The text that it printed: standard output, then standard error. */
  readonly output: string;
}

/**
 * Runs buf in a folder, with a temporary cache: there is nothing to cache, and the home folder may be read-only.
 *
 * @throws Error when buf cannot be started.
 */
export async function runBuf(directory: string, ...parameters: readonly string[]): Promise<BufResult> {
  return withTemporaryDirectory(async (cache) => {
    const child = spawn(path.join(PROGRAM_DIRECTORY, "buf"), parameters, {
      cwd: directory,
      env: {
        ...process.env,
        PATH: `${PROGRAM_DIRECTORY}${path.delimiter}${process.env.PATH ?? ""}`,
        BUF_CACHE_DIR: cache,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { succeeded: code === 0, output: Buffer.concat([...output, ...errors]).toString() };
  });
}

/** ts-proto spells the methods of an RWLock in another way than its messages. */
const METHOD_OF_RW_LOCK = /RwLock:/g;

/**
 * Generates every derived file again.
 *
 * @returns the content of the files by their path within `generated/`.
 * @throws DefinitionError
 */
export async function deriveFiles(directory: string): Promise<Map<string, Buffer>> {
  return withTemporaryDirectory(async (target) => {
    await buildOrThrow(directory, "generate", "--output", target);
    const descriptors = path.join(target, "descriptors.binpb");
    await buildOrThrow(
      directory,
      "build",
      "--as-file-descriptor-set",
      "--exclude-source-info",
      "--output",
      descriptors,
    );
    const { file: files } = fromBinary(FileDescriptorSetSchema, await readFile(descriptors));
    await writeFile(path.join(target, "wire_fields.ts"), fieldTable(files));
    await writeFile(path.join(target, "method_codecs.ts"), codecTable(files));
    const locks = path.join(target, "coordination/v1/lock.ts");
    await writeFile(locks, (await readFile(locks, "utf8")).replace(METHOD_OF_RW_LOCK, "RWLock:"));
    return readTree(target);
  });
}

/** Reads the derived files that are checked in, by their path within `generated/`. */
async function readDerivedFiles(directory: string): Promise<Map<string, Buffer>> {
  return readTree(path.join(directory, "generated"));
}

/** One derived file that does not match the definitions. */
export interface StaleFile {
  /** Path within the folder of the contract. */
  readonly path: string;
  readonly reason: "missing" | "outdated" | "superfluous";
}

/** Compares derived files with the files that are checked in; returns the differences, ordered by path. */
function compareFiles(derived: ReadonlyMap<string, Buffer>, present: ReadonlyMap<string, Buffer>): StaleFile[] {
  const stale: StaleFile[] = [];
  for (const [name, content] of derived) {
    const current = present.get(name);
    if (current === undefined) {
      stale.push({ path: `generated/${name}`, reason: "missing" });
    } else if (!current.equals(content)) {
      stale.push({ path: `generated/${name}`, reason: "outdated" });
    }
  }
  for (const name of present.keys()) {
    if (!derived.has(name)) {
      stale.push({ path: `generated/${name}`, reason: "superfluous" });
    }
  }
  return stale.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/**
 * Writes the derived files that differ, and removes files that no definition derives. Returns what it changed.
 *
 * @throws DefinitionError
 */
export async function writeDerivedFiles(directory: string): Promise<StaleFile[]> {
  const derived = await deriveFiles(directory);
  const stale = compareFiles(derived, await readDerivedFiles(directory));
  for (const file of stale) {
    const target = path.join(directory, file.path);
    const content = derived.get(file.path.slice("generated/".length));
    if (content === undefined) {
      await rm(target);
    } else {
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    }
  }
  return stale;
}

/** One problem of the contract, and its remedy. */
export interface ContractProblem {
  readonly title: string;
  readonly details: string;
  readonly remedy: string;
}

/** Checks definitions and derived files. Returns an empty list if there is no problem. Writes nothing. */
export async function checkContract(directory: string): Promise<ContractProblem[]> {
  const build = await runBuf(directory, "build");
  if (!build.succeeded) {
    const title = "The protobuf definitions do not compile";
    return [{ title, details: build.output, remedy: "Correct the definitions." }];
  }
  const problems: ContractProblem[] = [];
  const lint = await runBuf(directory, "lint");
  if (!lint.succeeded) {
    const title = "The protobuf definitions break the rules of proto/buf.yaml";
    problems.push({ title, details: lint.output, remedy: "Correct the definitions." });
  }
  const breaking = await compareWithBaseline(directory);
  if (!breaking.succeeded) {
    problems.push({
      title: "The protobuf definitions break clients of the accepted contract",
      details: breaking.output,
      remedy: "Undo the change, or, if no client can rely on it yet, accept it with: npm run proto:accept",
    });
  }
  const stale = compareFiles(await deriveFiles(directory), await readDerivedFiles(directory));
  if (stale.length > 0) {
    problems.push({
      title: "Generated files do not match the protobuf definitions",
      details: stale.map((file) => `${file.path}: ${file.reason}`).join("\n"),
      remedy: "Generate them again with: npm run proto:generate",
    });
  }
  return problems;
}

/** Compares the definitions with the accepted contract; the output lists what would break clients. */
export async function compareWithBaseline(directory: string): Promise<BufResult> {
  return runBuf(directory, "breaking", "--against", BASELINE_NAME);
}

/**
 * Makes the definitions the accepted contract. Returns whether that changed the contract.
 *
 * @throws DefinitionError
 */
export async function acceptContract(directory: string): Promise<boolean> {
  const baseline = path.join(directory, BASELINE_NAME);
  const before = await readIfPresent(baseline);
  await buildOrThrow(directory, "build", "--exclude-source-info", "--output", BASELINE_NAME);
  return before === undefined || !before.equals(await readFile(baseline));
}

async function readIfPresent(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

async function buildOrThrow(directory: string, ...parameters: readonly string[]): Promise<void> {
  const result = await runBuf(directory, ...parameters);
  if (!result.succeeded) {
    throw new DefinitionError(`buf ${parameters[0]} failed:\n${result.output.trimEnd()}`);
  }
}

async function withTemporaryDirectory<Result>(use: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(path.join(tmpdir(), "quoin-proto-"));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readTree(root: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of (await readdir(root, { recursive: true })).sort()) {
    const file = path.join(root, name);
    if ((await stat(file)).isFile()) {
      files.set(name.split(path.sep).join("/"), await readFile(file));
    }
  }
  return files;
}

/** The field types that the strict check of incoming bytes knows. */
const CHECKED_TYPES: ReadonlyMap<FieldType, string> = new Map([
  [FieldType.STRING, "string"],
  [FieldType.BYTES, "bytes"],
  [FieldType.INT64, "int64"],
  [FieldType.INT32, "int32"],
  [FieldType.BOOL, "bool"],
  [FieldType.ENUM, "enum"],
]);

/** Makes the table of the fields of all messages, including map entries. */
function fieldTable(files: readonly FileDescriptorProto[]): string {
  const lines: string[] = [];
  const addMessage = (message: DescriptorProto, scope: string): void => {
    const typeName = `${scope}.${message.name}`;
    const fields = message.field.map(
      (field) => `    [${field.number}, "${field.name}", "${fieldType(field, typeName)}"],`,
    );
    lines.push(fields.length === 0 ? `  ["${typeName}", []],` : `  ["${typeName}", [\n${fields.join("\n")}\n  ]],`);
    for (const nested of message.nestedType) {
      addMessage(nested, typeName);
    }
  };
  for (const file of files) {
    for (const message of file.messageType) {
      addMessage(message, file.package);
    }
  }
  return [
    "// Code generated by proto/scripts/generate.ts. DO NOT EDIT.",
    "",
    "/** The fields of every message: number, name, and type, which is a scalar, `enum`, or the full name of a message. */",
    "export const wireFields: readonly (readonly [string, readonly (readonly [number, string, string])[]])[] = [",
    ...lines,
    "];",
    "",
  ].join("\n");
}

/** The package whose services have generated code; a library implements the health service. */
const CONTRACT_PACKAGE = "coordination.v1";

/** Makes the table of the codecs of all methods of the contract, by the full names of the methods. */
function codecTable(files: readonly FileDescriptorProto[]): string {
  const imports: string[] = [];
  const lines: string[] = [];
  for (const file of files.filter(({ service, ...each }) => each.package === CONTRACT_PACKAGE && service.length > 0)) {
    const names = new Set<string>();
    const codec = (typeName: string): string => {
      const name = typeName.slice(`.${CONTRACT_PACKAGE}.`.length);
      names.add(name);
      return `${name} as typeof ${name}`;
    };
    for (const service of file.service) {
      for (const { name, inputType, outputType } of service.method) {
        lines.push(
          `  "/${CONTRACT_PACKAGE}.${service.name}/${name}": {`,
          `    requestCodec: ${codec(inputType)},`,
          `    responseCodec: ${codec(outputType)},`,
          "  },",
        );
      }
    }
    const module = `./${file.name.replace(/\.proto$/, ".ts")}`;
    imports.push("import {", ...[...names].sort().map((name) => `  ${name},`), `} from "${module}";`);
  }
  return [
    "// Code generated by proto/scripts/generate.ts. DO NOT EDIT.",
    "",
    ...imports,
    "",
    "/** The codecs of the request and of the response of every method, by its full name. */",
    "export const methodCodecs = {",
    ...lines,
    "} as const;",
    "",
  ].join("\n");
}

function fieldType(field: FieldDescriptorProto, typeName: string): string {
  if (field.type === FieldType.MESSAGE) {
    return field.typeName.replace(/^\./, "");
  }
  const name = CHECKED_TYPES.get(field.type);
  // Repeated numbers are packed into one field of bytes, and the check does not look inside it.
  const packed = field.label === FieldLabel.REPEATED && name !== "string" && name !== "bytes";
  if (name === undefined || packed) {
    throw new DefinitionError(
      `${typeName}.${field.name} has a type that the check of incoming bytes (proto/wire-check.ts) does not know`,
    );
  }
  return name;
}
