import { parseLocation } from "@quoin/backup";
import { expect } from "chai";
import { clusterOf } from "../../test/index.ts";
import type { StoreSpec } from "../generated/coordination-backup-store.ts";
import { type BackupPlan, locationOf, NO_STORES, render, renderPodTemplate } from "./index.ts";

const BACKUP = { storeName: "store", archive: true, interval: "12h" };
const BUCKET: StoreSpec = {
  s3: {
    bucket: "backups",
    prefix: "quoin/prod",
    endpoint: "https://minio.example:9000",
    region: "eu-1",
    pathStyle: true,
    caSecretRef: { name: "minio-ca" },
    credentialsSecretRef: { name: "minio" },
  },
  encryption: { keysSecretRef: { name: "keys" } },
  retention: { count: 7, maxAgeDays: 30 },
};

function podOf(plan: BackupPlan | null) {
  const { spec } = renderPodTemplate(clusterOf(), { ...NO_STORES, backup: plan });
  const [member] = spec?.containers ?? [];
  return { volumes: spec?.volumes ?? [], args: member?.args ?? [], mounts: member?.volumeMounts ?? [] };
}

function added(store: StoreSpec, backup = BACKUP) {
  const [without, pod] = [podOf(null), podOf({ backup, store })];
  return {
    args: pod.args.slice(without.args.length),
    volumes: pod.volumes.slice(without.volumes.length),
    mounts: pod.mounts.slice(without.mounts.length),
  };
}

describe("backups of a member's pod", () => {
  it("names a bucket as members read it, and no secret", () => {
    expect(parseLocation(locationOf(BUCKET))).to.deep.include({
      kind: "s3",
      bucket: "backups",
      prefix: "quoin/prod/",
      endpoint: "https://minio.example:9000/",
      region: "eu-1",
      pathStyle: true,
      caFile: "/etc/quoin/backup-ca/ca.crt",
    });
    expect(locationOf({ s3: { bucket: "backups", pathStyle: false } })).to.equal("s3://backups/");
    expect(parseLocation(locationOf({ directory: { claimName: "a", path: "b/c" } }))).to.deep.equal({
      kind: "directory",
      directory: "/var/lib/quoin-backup/b/c",
    });
  });

  it("gives a member flags and files of a bucket, and starts it when a Secret is gone", () => {
    const { args, volumes, mounts } = added(BUCKET);
    expect(args.slice(1)).to.deep.equal([
      "--backup-key-file=/etc/quoin/backup-keys/keys",
      "--backup-credentials-file=/etc/quoin/backup-credentials/credentials",
      "--backup-archive",
      "--backup-interval=12h",
      "--backup-retention=7,30d",
    ]);
    expect(volumes).to.deep.equal([
      { name: "quoin-backup-keys", secret: { secretName: "keys", optional: true } },
      { name: "quoin-backup-credentials", secret: { secretName: "minio", optional: true } },
      { name: "quoin-backup-ca", secret: { secretName: "minio-ca", optional: true } },
    ]);
    expect(mounts.map(({ name, readOnly }) => [name, readOnly])).to.deep.equal(volumes.map(({ name }) => [name, true]));
  });

  it("mounts the volume of a directory, and archives only if that is enabled", () => {
    const { args, volumes, mounts } = added({ directory: { claimName: "backups" } }, { ...BACKUP, archive: false });
    expect(args).to.deep.equal(["--backup-store=/var/lib/quoin-backup"]);
    expect(volumes).to.deep.equal([{ name: "quoin-backup", persistentVolumeClaim: { claimName: "backups" } }]);
    expect(mounts).to.deep.equal([{ name: "quoin-backup", mountPath: "/var/lib/quoin-backup" }]);
  });

  it("gives a member flags and files of the backup that its cluster is founded from, in addition to those of its backups", () => {
    const plan = { backup: BACKUP, store: { directory: { claimName: "backups" } } };
    const [without, pod] = [null, true].map((isRestored) => {
      const restoreFrom = { storeName: "past", backupName: "b", clusterId: "c", toTime: "2026-01-31T12:00:00Z" };
      const restore = isRestored === null ? null : { restoreFrom, store: BUCKET, snapshotId: "a" };
      const { spec } = renderPodTemplate(clusterOf(), { backup: plan, restore });
      return { ...spec, member: spec?.containers[0] };
    });
    expect(pod?.member?.args?.slice(without?.member?.args?.length)).to.deep.equal([
      "--restore-from=s3://backups/quoin/prod?endpoint=https%3A%2F%2Fminio.example%3A9000&region=eu-1&path-style=true&ca-file=%2Fetc%2Fquoin%2Frestore-ca%2Fca.crt",
      "--restore-cluster-id=c",
      "--restore-snapshot=a",
      "--restore-key-file=/etc/quoin/restore-keys/keys",
      "--restore-credentials-file=/etc/quoin/restore-credentials/credentials",
      "--restore-to-time=2026-01-31T12:00:00Z",
    ]);
    const { spec } = renderPodTemplate(clusterOf(), {
      backup: { backup: BACKUP, store: BUCKET },
      restore: { restoreFrom: { storeName: "past" }, store: { directory: { claimName: "past" } }, snapshotId: null },
    });
    expect(spec?.containers[0]?.args?.at(-1), "a plain source, and keys of its own").to.equal(
      "--restore-allow-unencrypted",
    );
    const volumes = pod?.volumes?.slice(without?.volumes?.length) ?? [];
    expect(volumes).to.deep.equal([
      { name: "quoin-restore-keys", secret: { secretName: "keys", optional: true } },
      { name: "quoin-restore-credentials", secret: { secretName: "minio", optional: true } },
      { name: "quoin-restore-ca", secret: { secretName: "minio-ca", optional: true } },
    ]);
    const mounts = pod?.member?.volumeMounts?.slice(without?.member?.volumeMounts?.length) ?? [];
    expect(mounts.map(({ name, readOnly }) => [name, readOnly])).to.deep.equal(volumes.map(({ name }) => [name, true]));
  });

  it("has one volume for a claim that it restores from and writes backups to, because a pod with two never starts", () => {
    const store = { directory: { claimName: "backups", path: "past" } };
    const restore = { restoreFrom: { storeName: "past" }, store, snapshotId: null };
    const backup = { backup: BACKUP, store: { directory: { claimName: "backups" } } };
    const { spec } = renderPodTemplate(clusterOf(), { backup, restore });
    expect(spec?.volumes?.filter(({ persistentVolumeClaim: claim }) => claim !== undefined)).to.deep.equal([
      { name: "quoin-backup", persistentVolumeClaim: { claimName: "backups" } },
    ]);
    const [member] = spec?.containers ?? [];
    expect(member?.args).to.include.members(["--restore-from=/var/lib/quoin-restore/past"]);
    expect(member?.volumeMounts?.filter(({ name }) => name === "quoin-backup")).to.deep.equal([
      { name: "quoin-backup", mountPath: "/var/lib/quoin-backup" },
      { name: "quoin-backup", mountPath: "/var/lib/quoin-restore", readOnly: true },
    ]);
    const other = { ...restore, store: { directory: { claimName: "older" } } };
    const apart = renderPodTemplate(clusterOf(), { backup, restore: other }).spec;
    expect(apart?.volumes?.map(({ name }) => name)).to.include.members(["quoin-backup", "quoin-restore"]);
  });

  it("refuses an overlay that takes a volume or a mount of backups", () => {
    const refused = (spec: object) => () =>
      renderPodTemplate(clusterOf({ podTemplate: { spec: spec as Record<string, unknown> } }), {
        ...NO_STORES,
        backup: { backup: BACKUP, store: BUCKET },
      });
    expect(refused({ volumes: [{ name: "quoin-backup-keys", emptyDir: {} }] })).to.throw("quoin-backup-keys");
    const volumeMounts = [{ name: "x", mountPath: "/etc/quoin/backup-keys" }];
    expect(refused({ containers: [{ name: "quoin", volumeMounts }] })).to.throw("/etc/quoin/backup-keys");
  });

  it("alerts of backups where there is a store, and of an archive, by its interval, where there is one", () => {
    const settings = { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" };
    const monitoring = { podMonitor: { enabled: false }, rules: { enabled: true } };
    const alertsOf = (archive: boolean | null): Map<string, string> => {
      const cluster = clusterOf({ monitoring, ...(archive === null ? {} : { backup: { ...BACKUP, archive } }) });
      const objects = render(cluster, { replicas: 3, minAvailable: null }, settings);
      const rules = objects.find(({ kind }) => kind === "PrometheusRule") as unknown as {
        spec: { groups: { rules: { alert: string; expr: string }[] }[] };
      };
      return new Map(rules.spec.groups[0]?.rules.map(({ alert, expr }) => [alert, expr]));
    };
    const series = '{namespace="default",quoin_dev_cluster="demo"}';
    const [alerts, without, none] = [alertsOf(true), alertsOf(false), alertsOf(null)];
    expect([...without.keys()].filter((name) => !none.has(name))).to.deep.equal(["QuoinBackupVerificationFailed"]);
    const verified = "max(max_over_time(quoin_backup_verified_timestamp_seconds";
    expect(without.get("QuoinBackupVerificationFailed")).to.equal(
      ["failed", "succeeded"]
        .map((result) => `${verified}${series.slice(0, -1)},result="${result}"}[14d]))`)
        .join(" > "),
    );
    const succeeded = `quoin_backup_last_success_timestamp_seconds${series}[86400s]`;
    expect(alerts.get("QuoinBackupOverdue")).to.equal(
      `time() - max(max_over_time(${succeeded})) > 86400 or absent_over_time(${succeeded})`,
    );
    expect([...alerts.keys()].filter((name) => !without.has(name))).to.deep.equal([
      "QuoinBackupOverdue",
      "QuoinArchiveBehind",
      "QuoinArchiveChainBroken",
      "QuoinArchiveFails",
    ]);
  });
});
