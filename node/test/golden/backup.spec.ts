import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decrypt,
  type KeyRing,
  openStore,
  parseKeys,
  planRestore,
  type RestorePlan,
  readCatalog,
  readChain,
  verifyChain,
} from "@quoin/backup";
import { expect } from "chai";
import { MemoryStateStore } from "../index.ts";
import { KEY_FILE, PLAIN, SEALED } from "./backup-objects.ts";
import { broken } from "./promises.ts";
import { recordedReads } from "./recorded-reads.ts";
import { replay } from "./state-at.ts";
import { BACKUP_DIRECTORY, goldenVersions } from "./versions.ts";

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) {
    parts.push(Uint8Array.from(part));
  }
  return Buffer.concat(parts).toString("hex");
}

for (const { version, directory: golden, entries, expected } of goldenVersions()) {
  describe(`golden backup of ${version}`, () => {
    const directory = join(golden, BACKUP_DIRECTORY);
    const keyRing = parseKeys(readFileSync(join(directory, KEY_FILE)), KEY_FILE);
    const promise = (what: string) => broken(version, what);

    /** Opens a store for as long as it is used. */
    async function withStore<Value>(
      name: string,
      use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Value>,
    ): Promise<Value> {
      const store = await openStore({ kind: "directory", directory: join(directory, name) }, { create: false });
      try {
        return await use(store);
      } finally {
        await store.close();
      }
    }

    /** All bytes of the plan's objects, without encryption. */
    function objectsOf(name: string, keys: KeyRing | undefined): Promise<Map<string, string>> {
      return withStore(name, async (store) => {
        const plan = await planOf(store);
        const objects = new Map<string, string>();
        for (const object of [plan.snapshot, ...plan.segments]) {
          const { stream } = await decrypt(await store.get(object.name), { keyRing: keys });
          objects.set(object.name, await bytesOf(stream));
        }
        return objects;
      });
    }

    async function planOf(store: Parameters<typeof readCatalog>[0]): Promise<RestorePlan> {
      const catalog = await readCatalog(store);
      expect(catalog.problems, promise("Names of objects")).to.deep.equal([]);
      return planRestore(catalog, { kind: "latest" });
    }

    for (const [name, keys] of [
      [PLAIN, undefined],
      [SEALED, keyRing],
    ] as const) {
      it(`is whole, ${name}`, async () => {
        await withStore(name, async (store) => {
          const { chains } = await readCatalog(store);
          const chain = chains[0] ?? expect.fail(promise("Names of objects"));
          const { problem, objects, lastIndex } = await verifyChain(store, chain, { keyRing: keys });
          expect({ problem, objects, lastIndex }, promise("Objects")).to.deep.equal({
            problem: undefined,
            objects: 3,
            lastIndex: entries.length,
          });
        });
      });

      it(`brings the state back, ${name}`, async () => {
        await withStore(name, async (store) => {
          const state = new MemoryStateStore();
          const digests: (number | undefined)[] = [];
          for await (const part of readChain(store, await planOf(store), { keyRing: keys })) {
            digests.push(part.header.stateDigest);
            if (part.kind === "snapshot") {
              for await (const rows of part.rows) {
                state.write(rows);
              }
              expect(recordedReads(state), promise("Rows of the snapshot")).to.deep.equal(expected.atMark);
              continue;
            }
            const rows: Uint8Array[] = [];
            for await (const batch of part.entries) {
              rows.push(...batch.map(({ bytes }) => bytes));
            }
            const { digest } = replay(rows, state).machine.progress;
            expect(digest, promise("Entries of a segment")).to.equal(part.header.stateDigest);
          }
          const logged = [expected.mark, entries.length].map((index) => entries[index - 1]?.digest);
          expect([digests.at(0), digests.at(-1)], promise("Digests in headers")).to.deep.equal(logged);
          expect(recordedReads(state), promise("Contents of the state")).to.deep.equal(expected.atEnd);
        });
      });
    }

    it("has in sealed objects the bytes of the plain ones", async () => {
      const [plain, opened] = [await objectsOf(PLAIN, undefined), await objectsOf(SEALED, keyRing)];
      expect([...opened.keys()]).to.deep.equal([...plain.keys()]);
      expect(opened, promise("Sealed objects")).to.deep.equal(plain);
    });
  });
}
