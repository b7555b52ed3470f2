/** `quoinctl memory …` */

import { writeFile } from "node:fs/promises";
import { Argument, type Command, Option } from "commander";
import type { Client, MemoryRegionInfo } from "../index.ts";
import { formatSize, parseSize } from "./byte-size.ts";
import { parseCount, parsePositiveCount } from "./count.ts";
import { decodeText, escapeControls } from "./displayed-text.ts";
import { type GuardOptions, guardOf, guardOption, rwGuardOption } from "./guard-option.ts";
import { parseNameArgument } from "./key-argument.ts";
import type { Result } from "./output.ts";
import type { Session } from "./session.ts";
import { withTransferProgress } from "./transfer-progress.ts";
import { UsageError } from "./usage-error.ts";
import { readValue } from "./value-argument.ts";

/** The largest region that any service allows: the default quota of a namespace. */
const maxRegionBytes = 1_024 ** 3;

/** Adds the commands to the program. */
export function addMemoryCommands(program: Command, session: Session): void {
  const memory = program.command("memory").description("allocate, read and write memory regions");
  addAllocate(memory, session);
  addDescribe(memory, session);
  addResize(memory, session);
  addFree(memory, session);
  addWrite(memory, session);
  addRead(memory, session);
  addList(memory, session);
}

interface ChangeOptions extends GuardOptions {
  readonly ifVersion?: number;
}

function addAllocate(memory: Command, session: Session): void {
  memory
    .command("allocate")
    .argument("<NAMESPACE>")
    .addArgument(sizeArgument())
    .description("create a region of zeros, and print its id")
    .option("--label <TEXT>", "a label for people")
    .action(async (namespace: string, size: number, { label }: { readonly label?: string }) => {
      const { regionId, sizeBytes, version, revision } = await session.withClient((client) =>
        client.memory.allocate(namespace, size, { label }),
      );
      session.print({
        document: { namespace, region_id: regionId, size_bytes: sizeBytes, version, revision },
        shown: {
          columns: ["REGION", "SIZE", "VERSION"],
          rows: [[escapeControls(regionId), formatSize(sizeBytes), String(version)]],
        },
      });
    });
}

function addDescribe(memory: Command, session: Session): void {
  memory
    .command("describe <NAMESPACE/REGION>")
    .description("show the size and the version of a region")
    .action(async (text: string) => {
      const { namespace, name } = parseRegion(text);
      const { revision, ...region } = await session.withClient((client) => client.memory.describe(namespace, name));
      session.print({ document: { ...regionDocument(region), revision }, shown: regionTable([region]) });
    });
}

function addResize(memory: Command, session: Session): void {
  memory
    .command("resize")
    .argument("<NAMESPACE/REGION>")
    .addArgument(sizeArgument())
    .description("change the size of a region; new bytes are zero")
    .addOption(ifVersionOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .action(async (text: string, size: number, options: ChangeOptions) => {
      const { namespace, name } = parseRegion(text);
      const { sizeBytes, previousSizeBytes, version, revision } = await session.withClient((client) =>
        client.memory.resize(namespace, name, size, conditions(options)),
      );
      session.print({
        document: {
          namespace,
          region_id: name,
          size_bytes: sizeBytes,
          previous_size_bytes: previousSizeBytes,
          version,
          revision,
        },
        shown: {
          columns: ["REGION", "SIZE", "SIZE BEFORE", "VERSION"],
          rows: [[escapeControls(name), formatSize(sizeBytes), formatSize(previousSizeBytes), String(version)]],
        },
      });
    });
}

function addFree(memory: Command, session: Session): void {
  memory
    .command("free <NAMESPACE/REGION>")
    .description("free a region; its id is never reused")
    .addOption(ifVersionOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .action(async (text: string, options: ChangeOptions) => {
      const { namespace, name } = parseRegion(text);
      const { freed, revision } = await session.withClient((client) =>
        client.memory.free(namespace, name, conditions(options)),
      );
      session.print({
        document: { namespace, region_id: name, freed, revision },
        shown: { columns: ["REGION", "FREED"], rows: [[escapeControls(name), String(freed)]] },
      });
    });
}

function addWrite(memory: Command, session: Session): void {
  memory
    .command("write <NAMESPACE/REGION> [DATA]")
    .description("overwrite bytes of a region; without DATA, or with -, they are the standard input")
    .addOption(offsetOption())
    .option("--file <FILE>", "take the bytes from a file")
    .addOption(ifVersionOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .action(
      async (
        text: string,
        argument: string | undefined,
        options: ChangeOptions & { readonly offset: number; readonly file?: string },
      ) => {
        const { namespace, name } = parseRegion(text);
        const { offset, file } = options;
        const data = await readValue(session.terminal, { argument, file }, maxRegionBytes);
        const version = await session.withClient((client) =>
          withTransferProgress(session.terminal, "writing", (onProgress) =>
            client.memory.open(namespace, name).writeAt(offset, data, { ...conditions(options), onProgress }),
          ),
        );
        session.print({
          document: { namespace, region_id: name, offset, bytes_written: data.length, version },
          shown: {
            columns: ["REGION", "OFFSET", "BYTES WRITTEN", "VERSION"],
            rows: [[escapeControls(name), String(offset), String(data.length), String(version)]],
          },
        });
      },
    );
}

interface ReadOptions {
  readonly offset: number;
  readonly length?: number;
  readonly outputFile?: string;
  readonly mixed?: boolean;
}

function addRead(memory: Command, session: Session): void {
  memory
    .command("read <NAMESPACE/REGION>")
    .description("print raw bytes of a region, or with -o json or yaml as text or base64")
    .addOption(offsetOption())
    .addOption(new Option("--length <N>", "how many bytes (default: all to the end)").argParser(parseCount))
    .option("--output-file <FILE>", "write them to a file")
    .option("--mixed", "do not fail when the region changes while it is read")
    .action(async (text: string, options: ReadOptions) => {
      const { namespace, name } = parseRegion(text);
      const data = await session.withClient((client) => readRegion(session, client, { namespace, name }, options));
      const { offset, outputFile } = options;
      if (outputFile === undefined) {
        session.print({
          document: { namespace, region_id: name, offset, length: data.length, ...dataDocument(data) },
          shown: data,
        });
        return;
      }
      await writeToFile(outputFile, data);
      session.print(savedRegion(namespace, name, outputFile, offset, data.length));
    });
}

async function readRegion(
  session: Session,
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { offset, length, mixed }: ReadOptions,
): Promise<Uint8Array> {
  const region = client.memory.open(namespace, name);
  const wanted = length ?? Math.max(0, (await region.size()) - offset);
  return withTransferProgress(session.terminal, "reading", (onProgress) =>
    region.readAt(offset, wanted, { mixed, onProgress }),
  );
}

async function writeToFile(file: string, data: Uint8Array): Promise<void> {
  try {
    await writeFile(file, data);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function savedRegion(namespace: string, name: string, file: string, offset: number, length: number): Result {
  return {
    document: { namespace, region_id: name, offset, length, file },
    shown: {
      columns: ["REGION", "OFFSET", "BYTES READ", "FILE"],
      rows: [[escapeControls(name), String(offset), String(length), escapeControls(file)]],
    },
  };
}

function addList(memory: Command, session: Session): void {
  memory
    .command("list <NAMESPACE>")
    .description("list the regions of a namespace")
    .addOption(new Option("--limit <N>", "stop after this many (default: all)").argParser(parsePositiveCount))
    .action(async (namespace: string, { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number }) => {
      const regions = await session.withClient(async ({ memory: regionsOf }) => {
        const found: MemoryRegionInfo[] = [];
        for await (const page of regionsOf.pages(namespace)) {
          found.push(...page.regions);
          if (found.length >= limit) break;
        }
        return found.slice(0, limit);
      });
      session.print({ document: { namespace, regions: regions.map(regionDocument) }, shown: regionTable(regions) });
    });
}

function parseRegion(text: string): { readonly namespace: string; readonly name: string } {
  return parseNameArgument(text, "region", "REGION");
}

function sizeArgument(): Argument {
  return new Argument("<SIZE>", "in bytes, or such as 64KiB or 16MiB").argParser(parseSize);
}

function offsetOption(): Option {
  return new Option("--offset <N>", "the first byte").argParser(parseCount).default(0);
}

function ifVersionOption(): Option {
  return new Option("--if-version <N>", "only if the region has this version").argParser(parseCount);
}

function conditions(options: ChangeOptions) {
  return { expectedVersion: options.ifVersion, guard: guardOf(options) };
}

function dataDocument(data: Uint8Array): object {
  const text = decodeText(data);
  return text === undefined ? { data_base64: Buffer.from(data).toString("base64") } : { data: text };
}

function regionDocument(region: MemoryRegionInfo): object {
  return {
    namespace: region.namespace,
    region_id: region.regionId,
    label: region.label,
    size_bytes: region.sizeBytes,
    version: region.version,
    created_at_ms: region.createdAtMs,
    updated_at_ms: region.updatedAtMs,
  };
}

function regionTable(regions: readonly MemoryRegionInfo[]) {
  return {
    columns: ["REGION", "SIZE", "VERSION", "UPDATED", "LABEL"],
    rows: regions.map(({ regionId, sizeBytes, version, updatedAtMs, label }) => [
      escapeControls(regionId),
      formatSize(sizeBytes),
      String(version),
      new Date(updatedAtMs).toISOString(),
      label === "" ? "-" : escapeControls(label),
    ]),
  };
}
