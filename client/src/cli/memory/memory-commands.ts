/** `quoinctl memory …` */

import { writeFile } from "node:fs/promises";
import { Argument, type Command, Option } from "commander";
import type { Client, MemoryRegionInfo } from "../../index.ts";
import {
  type GuardOptions,
  guardOf,
  guardOption,
  type ObjectKind,
  onlyOne,
  parseNameArgument,
  parseNamespaceArgument,
  readValue,
  rwGuardOption,
  textOption,
} from "../arguments/index.ts";
import { UsageError } from "../errors/index.ts";
import { type Result, withTransferProgress } from "../output/index.ts";
import type { Session } from "../session/index.ts";
import {
  bytesDocument,
  escapeControls,
  formatSize,
  isUuid,
  parseCount,
  parsePositiveCount,
  parseSize,
} from "../text/index.ts";

/** The largest page of the service. */
const PAGE_SIZE = 1_000;

/** The largest region that any service allows: the default quota of a namespace. */
const REGION_BYTES_MAX = 1_024 ** 3;

/** Adds the commands to their group. */
export function addMemoryCommands(memory: Command, session: Session): void {
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
    .action(async (target: string, size: number, { label }: { readonly label?: string }) => {
      const namespace = parseNamespaceArgument(target);
      const { regionId, sizeBytes, version, revision } = await session.withClient((client) =>
        client.memory.allocate(namespace, size, { label }),
      );
      await session.print({
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
    .description("show the size and the version of a region, given by id or label")
    .action(async (text: string) => {
      const { namespace, name } = parseRegion(text);
      const { revision, ...region } = await session.withClient(async (client) =>
        client.memory.describe(namespace, await findRegionId(client, namespace, name)),
      );
      await session.print({ document: { ...regionDocument(region), revision }, shown: regionTable([region]) });
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
      const { regionId, sizeBytes, previousSizeBytes, version, revision } = await session.withClient(async (client) => {
        const id = await findRegionId(client, namespace, name);
        return { regionId: id, ...(await client.memory.resize(namespace, id, size, conditions(options))) };
      });
      await session.print({
        document: {
          namespace,
          region_id: regionId,
          size_bytes: sizeBytes,
          previous_size_bytes: previousSizeBytes,
          version,
          revision,
        },
        shown: {
          columns: ["REGION", "SIZE", "SIZE BEFORE", "VERSION"],
          rows: [[escapeControls(regionId), formatSize(sizeBytes), formatSize(previousSizeBytes), String(version)]],
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
      const { regionId, freed, revision } = await session.withClient(async (client) => {
        const id = await findRegionId(client, namespace, name);
        return { regionId: id, ...(await client.memory.free(namespace, id, conditions(options))) };
      });
      await session.print({
        document: { namespace, region_id: regionId, freed, revision },
        shown: { columns: ["REGION", "FREED"], rows: [[escapeControls(regionId), String(freed)]] },
      });
    });
}

function addWrite(memory: Command, session: Session): void {
  memory
    .command("write <NAMESPACE/REGION> [DATA]")
    .description("overwrite bytes of a region; without DATA, or with -, they are the standard input")
    .addOption(offsetOption())
    .option("--file <FILE>", "take the bytes from a file")
    .addOption(textOption("the bytes"))
    .addOption(ifVersionOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .action(
      async (
        text: string,
        argument: string | undefined,
        options: ChangeOptions & { readonly offset: number; readonly text?: string; readonly file?: string },
      ) => {
        const { namespace, name } = parseRegion(text);
        const { offset, text: given, file } = options;
        const data = await readValue(session.terminal, { argument, text: given, file }, REGION_BYTES_MAX);
        const { regionId, version } = await session.withClient(async (client) => {
          const id = await findRegionId(client, namespace, name);
          const written = await withTransferProgress(session, "writing", (onProgress) =>
            client.memory.open(namespace, id).writeAt(offset, data, { ...conditions(options), onProgress }),
          );
          return { regionId: id, version: written };
        });
        await session.print({
          document: { namespace, region_id: regionId, offset, bytes_written: data.length, version },
          shown: {
            columns: ["REGION", "OFFSET", "BYTES WRITTEN", "VERSION"],
            rows: [[escapeControls(regionId), String(offset), String(data.length), String(version)]],
          },
        });
      },
    );
}

interface ReadOptions {
  readonly offset: number;
  readonly length?: number;
  readonly outputFile?: string;
  readonly raw?: boolean;
  readonly mixed?: boolean;
}

function addRead(memory: Command, session: Session): void {
  memory
    .command("read <NAMESPACE/REGION>")
    .description("print the bytes of a region; -o json and yaml have them in base64, and as text if they are text")
    .addOption(offsetOption())
    .addOption(new Option("--length <N>", "how many bytes (default: all to the end)").argParser(parseCount))
    .option("--output-file <FILE>", "write them to a file")
    .option("--raw", "also write bytes to a terminal that it may obey or cannot show")
    .option("--mixed", "do not fail when the region changes while it is read")
    .action(async (text: string, options: ReadOptions) => {
      const { namespace, name } = parseRegion(text);
      const { regionId, data } = await session.withClient(async (client) => {
        const id = await findRegionId(client, namespace, name);
        return { regionId: id, data: await readRegion(session, client, { namespace, regionId: id }, options) };
      });
      const { offset, outputFile } = options;
      if (outputFile === undefined && options.raw === true) {
        session.terminal.stdout.write(data);
        return;
      }
      if (outputFile === undefined) {
        await session.print({
          document: { namespace, region_id: regionId, offset, length: data.length, ...bytesDocument("data", data) },
          shown: data,
        });
        return;
      }
      await writeToFile(outputFile, data);
      await session.print(savedRegion(namespace, regionId, outputFile, offset, data.length));
    });
}

async function readRegion(
  session: Session,
  client: Client,
  { namespace, regionId }: { readonly namespace: string; readonly regionId: string },
  { offset, length, mixed }: ReadOptions,
): Promise<Uint8Array> {
  const region = client.memory.open(namespace, regionId);
  const wanted = length ?? Math.max(0, (await region.size()) - offset);
  return withTransferProgress(session, "reading", (onProgress) => region.readAt(offset, wanted, { mixed, onProgress }));
}

async function writeToFile(file: string, data: Uint8Array): Promise<void> {
  try {
    await writeFile(file, data);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function savedRegion(namespace: string, regionId: string, file: string, offset: number, length: number): Result {
  return {
    document: { namespace, region_id: regionId, offset, length, file },
    shown: {
      columns: ["REGION", "OFFSET", "BYTES READ", "FILE"],
      rows: [[escapeControls(regionId), String(offset), String(length), escapeControls(file)]],
    },
  };
}

function addList(memory: Command, session: Session): void {
  memory
    .command("list <NAMESPACE>")
    .description("list the regions of a namespace")
    .addOption(new Option("--limit <N>", "stop after this many (default: all)").argParser(parsePositiveCount))
    .action(async (target: string, { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number }) => {
      const namespace = parseNamespaceArgument(target);
      const regions = await session.withClient(async ({ memory: regionsOf }) => {
        const found: MemoryRegionInfo[] = [];
        for await (const page of regionsOf.pages(namespace)) {
          found.push(...page.regions);
          if (found.length >= limit) {
            break;
          }
        }
        return found.slice(0, limit);
      });
      await session.print({
        document: { namespace, regions: regions.map(regionDocument) },
        shown: regionTable(regions),
      });
    });
}

const REGIONS: ObjectKind<MemoryRegionInfo> = {
  title: "memory region",
  notFoundReason: "REGION_NOT_FOUND",
  describe: ({ namespace, regionId, label }) => `${namespace}/${regionId}${label === "" ? "" : ` (${label})`}`,
};

/**
 * The id of a region that is given by id or label.
 *
 * @throws NotFoundError if the namespace has no such region; UsageError if several have this label.
 */
async function findRegionId({ memory }: Client, namespace: string, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const found = new Map<string, MemoryRegionInfo>();
  for await (const page of memory.pages(namespace, { pageSize: PAGE_SIZE })) {
    for (const region of page.regions) {
      if (region.label === text || region.regionId === text) {
        found.set(region.regionId, region);
      }
    }
  }
  return onlyOne([...found.values()], text, REGIONS).regionId;
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
