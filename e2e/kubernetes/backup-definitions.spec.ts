/** The definitions of the backup kinds in a real API server: which objects it admits and refuses. */
import { expect } from "chai";
import { ACCEPTED_BACKUPS, type BackupRequest, REFUSED_BACKUPS } from "../../crds/requests/index.ts";
import { type KubeObject, Refusal } from "./kubernetes-api.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { Scene } from "./scene.ts";

const TRY_OUT = "dryRun=All&fieldValidation=Strict";
const KINDS = {
  coordinationbackupstores: "CoordinationBackupStore",
  coordinationbackups: "CoordinationBackup",
  coordinationbackupschedules: "CoordinationBackupSchedule",
} as const;

describe("The definitions for backups in an API server", function () {
  this.timeout(LIMIT_MS);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-backup-definitions");
    // The requests are dry runs.
    await scene.removeOperator();
  });

  after(() => scene?.clear());

  for (const asked of ACCEPTED_BACKUPS) {
    it(`take ${asked.what}`, async () => {
      expect((await request(asked)).kind).to.equal(KINDS[asked.plural]);
    });
  }

  for (const asked of REFUSED_BACKUPS) {
    it(`refuse ${asked.what}`, async () => {
      const error = await request(asked).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(Refusal);
      expect(JSON.stringify((error as Refusal).answer)).to.contain(asked.message);
    });
  }

  /** The object that the API server would store. Rejects with a Refusal. */
  async function request({ plural, spec, from, name = "asked-for" }: BackupRequest): Promise<KubeObject> {
    const { kubernetes, cluster } = scene;
    const collection = `/apis/quoin.dev/v1alpha1/namespaces/${cluster.namespace}/${plural}`;
    const objectOf = (wanted: object, metadata: object): object => ({
      apiVersion: "quoin.dev/v1alpha1",
      kind: KINDS[plural],
      metadata: { name, ...metadata },
      spec: wanted,
    });
    if (from === undefined) {
      return await kubernetes.send("POST", `${collection}?${TRY_OUT}`, objectOf(spec, {}));
    }
    const made = await kubernetes.send("POST", collection, objectOf(from, {}));
    try {
      const { resourceVersion } = made.metadata;
      return await kubernetes.send("PUT", `${collection}/${name}?${TRY_OUT}`, objectOf(spec, { resourceVersion }));
    } finally {
      await kubernetes.send("DELETE", `${collection}/${name}`);
    }
  }
});
