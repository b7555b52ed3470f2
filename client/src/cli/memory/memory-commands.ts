/** `quoinctl memory …` */

import { writeFile } from "node:fs/promises";
import type { Client, MemoryRegionInfo } from "../../index.ts";
import {
  flag,
  GUARD_OPTIONS,
  guardOf,
  isUuid,
  type ObjectKind,
  type OptionsOf,
  onlyOne,
  option,
  parseNameArgument,
  parseNamespaceArgument,
  readValue,
  textOption,
} from "../arguments/index.ts";
import { unusable } from "../files/index.ts";
import { type Result, withTransferProgress } from "../output/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX, type Session } from "../session/index.ts";
import { bytesDocument, formatSize, parseCount, parsePositiveCount, parseSize } from "../text/index.ts";

/** The largest region that any service allows: the default quota of a namespace. */
const REGION_BYTES_MAX = 1_024 ** 3;

const SIZE = { description: "in bytes, or such as 64KiB or 16MiB", parse: parseSize };
const OFFSET = option("<N>", "the first byte", parseCount).byDefault(0);

const CHANGE_OPTIONS = {
  ifVersion: option("<N>", "only if the region has this version", parseCount),
  ...GUARD_OPTIONS,
};

const ALLOCATE = command("allocate <NAMESPACE> <SIZE>", {
  description: "create a region of zeros, and print its id",
  arguments: { SIZE },
  options: {
    label: option("<TEXT>", "a label for people"),
  },
  run: async (session, target, size, { label }) => {
    const namespace = parseNamespaceArgument(target);
    const { regionId, sizeBytes, version, revision } = await session.withClient((client) =>
      client.memory.allocate(namespace, size, { label }),
    );
    await session.print({
      document: { namespace, region_id: regionId, size_bytes: sizeBytes, version, revision },
      shown: {
        columns: ["REGION", "SIZE", "VERSION"],
        rows: [[regionId, formatSize(sizeBytes), version]],
      },
    });
  },
});

const DESCRIBE = command("describe <NAMESPACE/REGION>", {
  description: "show the size and the version of a region, given by id or label",
  run: async (session, text) => {
    const { namespace, name } = parseRegion(text);
    const { revision, ...region } = await session.withClient(async (client) =>
      client.memory.describe(namespace, await findRegionId(client, namespace, name)),
    );
    await session.print({ document: { ...regionDocument(region), revision }, shown: regionTable([region]) });
  },
});

const RESIZE = command("resize <NAMESPACE/REGION> <SIZE>", {
  description: "change the size of a region; new bytes are zero",
  arguments: { SIZE },
  options: {
    ...CHANGE_OPTIONS,
  },
  run: async (session, text, size, options) => {
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
        rows: [[regionId, formatSize(sizeBytes), formatSize(previousSizeBytes), version]],
      },
    });
  },
});

const FREE = command("free <NAMESPACE/REGION>", {
  description: "free a region; its id is never reused",
  options: {
    ...CHANGE_OPTIONS,
  },
  run: async (session, text, options) => {
    const { namespace, name } = parseRegion(text);
    const { regionId, freed, revision } = await session.withClient(async (client) => {
      const id = await findRegionId(client, namespace, name);
      return { regionId: id, ...(await client.memory.free(namespace, id, conditions(options))) };
    });
    await session.print({
      document: { namespace, region_id: regionId, freed, revision },
      shown: { columns: ["REGION", "FREED"], rows: [[regionId, freed]] },
    });
  },
});

const WRITE = command("write <NAMESPACE/REGION> [DATA]", {
  description: "overwrite bytes of a region; without DATA, or with -, they are the standard input",
  options: {
    offset: OFFSET,
    file: option("<FILE>", "take the bytes from a file"),
    text: textOption("the bytes"),
    ...CHANGE_OPTIONS,
  },
  run: async (session, text, argument, options) => {
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
        rows: [[regionId, offset, data.length, version]],
      },
    });
  },
});

const READ_OPTIONS = {
  offset: OFFSET,
  length: option("<N>", "how many bytes (default: all to the end)", parseCount),
  outputFile: option("<FILE>", "write them to a file"),
  raw: flag("also write bytes to a terminal that it may obey or cannot show"),
  mixed: flag("do not fail when the region changes while it is read"),
};

const READ = command("read <NAMESPACE/REGION>", {
  description: "print the bytes of a region; -o json and yaml have them in base64, and as text if they are text",
  options: READ_OPTIONS,
  run: async (session, text, options) => {
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
    await writeFile(outputFile, data).catch((error: unknown) => {
      throw unusable(outputFile, "written", error);
    });
    await session.print(savedRegion(namespace, regionId, outputFile, offset, data.length));
  },
});

async function readRegion(
  session: Session,
  client: Client,
  { namespace, regionId }: { readonly namespace: string; readonly regionId: string },
  { offset, length, mixed }: Pick<OptionsOf<typeof READ_OPTIONS>, "offset" | "length" | "mixed">,
): Promise<Uint8Array> {
  const region = client.memory.open(namespace, regionId);
  const wanted = length ?? Math.max(0, (await region.size()) - offset);
  return withTransferProgress(session, "reading", (onProgress) => region.readAt(offset, wanted, { mixed, onProgress }));
}

function savedRegion(namespace: string, regionId: string, file: string, offset: number, length: number): Result {
  return {
    document: { namespace, region_id: regionId, offset, length, file },
    shown: {
      columns: ["REGION", "OFFSET", "BYTES READ", "FILE"],
      rows: [[regionId, offset, length, file]],
    },
  };
}

const LIST = command("list <NAMESPACE>", {
  description: "list the regions of a namespace",
  options: {
    limit: option("<N>", "stop after this many (default: all)", parsePositiveCount),
  },
  run: async (session, target, { limit }) => {
    const namespace = parseNamespaceArgument(target);
    const regions = await session.withClient((client) =>
      itemsOf(client.memory.pages(namespace), (page) => page.regions, limit),
    );
    await session.print({
      document: { namespace, regions: regions.map(regionDocument) },
      shown: regionTable(regions),
    });
  },
});

/** The commands of the group. */
export const MEMORY_COMMANDS = commandGroup("", [ALLOCATE, DESCRIBE, RESIZE, FREE, WRITE, READ, LIST]);

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
  const regions = await itemsOf(memory.pages(namespace, { pageSize: PAGE_SIZE_MAX }), (page) => page.regions);
  const found = regions.filter(({ label, regionId }) => label === text || regionId === text);
  // A region may come twice, on two pages.
  return onlyOne([...new Map(found.map((region) => [region.regionId, region])).values()], text, REGIONS).regionId;
}

function parseRegion(text: string): { readonly namespace: string; readonly name: string } {
  return parseNameArgument(text, "region", "REGION");
}

function conditions(options: OptionsOf<typeof CHANGE_OPTIONS>) {
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
      regionId,
      formatSize(sizeBytes),
      version,
      new Date(updatedAtMs),
      label || undefined,
    ]),
  };
}
