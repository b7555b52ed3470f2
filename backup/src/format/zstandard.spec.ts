import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { CLUSTER, rowsOf, snapshotHeader } from "../../test/index.ts";
import { putSnapshot, readCatalog } from "../chain/index.ts";
import { DirectoryStore } from "../store/index.ts";

const moduleOf = (path: string): string => JSON.stringify(new URL(`../${path}`, import.meta.url).href);
/** Like a Node before 22.15, and otherwise this one. */
const WITHOUT_ZSTANDARD = `import zlib from "node:zlib";
  delete zlib.zstdCompress;
  delete zlib.zstdDecompress;
  const { DirectoryStore } = await import(${moduleOf("store/index.ts")});
  const { readCatalog, planRestore, verifyChain } = await import(${moduleOf("chain/index.ts")});
  const { readSnapshot } = await import(${moduleOf("format/index.ts")});
  const store = await DirectoryStore.open({ directory: process.argv[1], create: false });
  const catalog = await readCatalog(store, "${CLUSTER}");
  const chain = planRestore(catalog, { kind: "latest" });
  const tell = (error) => console.log(JSON.stringify([error.code, error.message, error.object ?? null]));
  await verifyChain(store, chain, {}).then(({ problem }) => console.log("a finding:", problem?.message), tell);
  const { batches } = await readSnapshot(await store.get(chain.snapshot.name));
  await (async () => { for await (const _ of batches); })().then(() => console.log("read"), tell);`;

describe("a Node without Zstandard", () => {
  it("is the problem that is named, and never the backup", async () => {
    const directory = temporaryDirectory();
    const store = await DirectoryStore.open({ directory, create: false });
    await putSnapshot(store, snapshotHeader(7), [rowsOf(1_000)], undefined);
    expect((await readCatalog(store, CLUSTER)).problems).to.deep.equal([]);
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", WITHOUT_ZSTANDARD, directory]);
    const problem =
      `the frames of backups are compressed with Zstandard, which Node has from 22.15 on, ` +
      `and this is Node ${process.versions.node}`;
    const told = JSON.stringify(["unsupported-node", problem, null]);
    expect(stdout).to.equal(`${told}\n${told}\n`);
  });
});
