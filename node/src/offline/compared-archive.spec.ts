import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newObjectId, openStore, parseLocation, planRestore, putSnapshot, readCatalog } from "@quoin/backup";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { UsageError } from "../command-line/index.ts";
import { compareArchive, requireArchiveFlags } from "./compared-archive.ts";

const GOLDEN = fileURLToPath(new URL("../../test/golden/0.1.0/backup", import.meta.url));
const KEY_FILE = join(GOLDEN, "TEST-KEY-not-secret.txt");
const CLUSTER = "60000000-0000-4000-8000-00000000601d";
const OTHER = "61111111-1111-4111-8111-11111111601d";

describe("the archive, compared with a member", () => {
  let location: string;

  beforeEach(() => {
    location = join(temporaryDirectory(), "store");
    cpSync(join(GOLDEN, "plain"), location, { recursive: true });
  });

  function compared(clusterId = CLUSTER, at = location, backupKeyFile?: string) {
    const keys = backupKeyFile === undefined ? {} : { backupKeyFile };
    return compareArchive({ backupStore: parseLocation(at), ...keys }, clusterId);
  }

  async function problemOf(...args: Parameters<typeof compared>): Promise<string> {
    const archive = await compared(...args);
    return archive !== null && "problem" in archive ? archive.problem : expect.fail(JSON.stringify(archive));
  }

  it("ends with the last segment of the longest-reaching chain, with its term", async () => {
    const opened = await openStore(parseLocation(location), { create: false });
    const { end, segments } = planRestore(await readCatalog(opened, CLUSTER), { kind: "latest" });
    expect(segments).to.not.deep.equal([]);
    const expected = { lastIndex: end.index, lastTerm: 3, revision: end.revision, wallMs: end.wallMs };
    expect(await compared()).to.deep.equal({ end: expected });
    expect(await compared(CLUSTER, join(GOLDEN, "sealed"), KEY_FILE)).to.deep.equal({ end: expected });

    // A snapshot without later segments can be restored, too.
    const header = {
      clusterId: CLUSTER,
      clusterName: "golden",
      quoinVersion: "0.1.0",
      clusterVersion: 1,
      id: newObjectId(),
      index: end.index + 10,
      term: 9,
      revision: 5_000,
      tickMs: 1,
      wallMs: 1_700_000_000_000,
      stateDigest: 0,
    };
    await putSnapshot(opened, header, [], undefined);
    await opened.close();
    const { index: lastIndex, term: lastTerm, revision, wallMs } = header;
    expect(await compared()).to.deep.equal({ end: { lastIndex, lastTerm, revision, wallMs } });
  });

  it("does not exist without a store, or in a store without a backup of the cluster", async () => {
    expect(await compareArchive({}, CLUSTER)).to.equal(null);
    expect(await compared(OTHER)).to.deep.equal({ end: null });
  });

  it("is a problem with a cause if it is not readable", async () => {
    expect(await problemOf(CLUSTER, join(GOLDEN, "sealed"))).to.contain("key");
    const noKey = join(temporaryDirectory(), "keys");
    expect(await problemOf(CLUSTER, join(GOLDEN, "sealed"), noKey)).to.contain(noKey);
    const objects = readdirSync(join(location, CLUSTER), { recursive: true, withFileTypes: true });
    const last = objects.filter(({ name }) => name.endsWith(".qseg")).toSorted((a, b) => (a.name < b.name ? 1 : -1))[0];
    writeFileSync(join(last?.parentPath ?? "", last?.name ?? ""), "");
    expect(await problemOf()).to.contain(last?.name);
    rmSync(location, { recursive: true });
    expect(await problemOf()).to.contain(location);
  });

  it("needs a store for its other flags, and a bucket for credentials", () => {
    expect(() => requireArchiveFlags({})).to.not.throw();
    expect(() => requireArchiveFlags({ backupKeyFile: "k" })).to.throw(UsageError, "need --backup-store");
    const backupStore = parseLocation(location);
    expect(() => requireArchiveFlags({ backupStore, backupCredentialsFile: "c" })).to.throw(UsageError, "s3://");
  });
});
