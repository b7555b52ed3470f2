/**
 * Compares the rights that the chart grants with the requests that the operator sends in the life of a cluster: each
 * request is allowed, and each right is used.
 */
import { expect } from "chai";
import { type Call, configOf, installDefinitions } from "../../test/api-server/index.ts";
import { helmOrSkip, NAMESPACE, objectOf } from "../../test/charts/index.ts";
import { until } from "../../test/index.ts";
import { BackupDrive, Drive } from "../../test/world/index.ts";
import { connect, systemTiming } from "../kube/index.ts";
import { RECOVER_QUORUM } from "../plan/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { Operator } from "./operator.ts";

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The rights of a rule, one by one, as `verb resource.group`, with the name if the rule is for one object only. */
function rightsOf({ apiGroups, resources, resourceNames = [""], verbs }: PolicyRule): string[] {
  return verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.map((name) => rightOf(verb, group, resource) + (name && ` ${name}`)),
      ),
    ),
  );
}

function rightOf(verb: string, group: string, resource: string): string {
  return `${verb} ${resource}${group && `.${group}`}`;
}

/** All rights that a request needs. */
function needsOf({ method, group, plural, name, subresource, query }: Call): string[] {
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  const verbs = (): string[] => {
    switch (method) {
      case "GET":
        return name === "" ? [query.has("watch") ? "watch" : "list"] : ["get"];
      case "POST":
        return ["create"];
      case "DELETE":
        return ["delete"];
      default:
        // An apply creates a missing object; a subresource exists with its object.
        return query.has("force") && subresource === "" ? ["patch", "create"] : ["patch"];
    }
  };
  return verbs().map((verb) => rightOf(verb, group, resource));
}

/** Rights that the API server itself requires, though no request shows it. */
const ASKED_FOR_ELSEWHERE = new Map([
  ["get pods", "a grantor needs the rights that it grants: a member may read its own pod"],
  [
    "update coordinationclusters/finalizers.quoin.dev",
    "an owner whose deletion waits for what it owns, on some API servers",
  ],
]);
const OPTIONAL = {
  networkPolicy: { enabled: true },
  monitoring: { podMonitor: { enabled: true }, rules: { enabled: true } },
  podDisruptionBudget: { enabled: true },
};
const CERT_MANAGER = {
  mode: "CertManager",
  issuerRef: { name: "ca", kind: "Issuer", group: "cert-manager.io" },
} as const;

describe("rights of the operator, as its chart gives them", () => {
  let everywhere: Set<string>;
  let own: Set<string>;
  let members: PolicyRule[];
  const used = new Set<string>();
  const missing = new Set<string>();

  before(async function () {
    this.timeout(120_000);
    const objects = helmOrSkip(this).render("quoin-operator");
    everywhere = new Set(objectOf(objects, "ClusterRole", "quoin-operator").rules.flatMap(rightsOf));
    own = new Set(objectOf(objects, "Role", "quoin-operator-lease").rules.flatMap(rightsOf));
    await inWorld(liveThrough);
    await inWorld(askForCertificates);
    await inWorld(takeBackups);
    await inWorld(recoverQuorum);
    await inWorld(workAsProcess);
  });

  /** Does what is requested, and notes it. */
  async function inWorld(scenario: (drive: Drive) => Promise<void>): Promise<void> {
    const drive = new Drive();
    await drive.begin();
    const { api } = drive.world;
    for (const kind of ["podmonitors", "prometheusrules", "certificates"]) {
      api.served.add(kind);
    }
    try {
      await scenario(drive);
    } finally {
      for (const call of api.calls) {
        note(call);
      }
      await drive.end();
    }
  }

  /** Decides as an API server with RBAC does. */
  function note(call: Call): void {
    for (const need of needsOf(call)) {
      const candidates = [need, `${need} ${call.name}`];
      const rights = call.namespace === NAMESPACE ? [everywhere, own] : [everywhere];
      const right = candidates.find((candidate) => rights.some((each) => each.has(candidate)));
      if (right === undefined) {
        missing.add(`${need} in ${call.namespace || "all namespaces"}`);
      } else {
        used.add(right);
      }
    }
  }

  async function liveThrough(drive: Drive): Promise<void> {
    const { store } = drive.world.api;
    store.create("storageclasses", "", { metadata: { name: "fast" }, allowVolumeExpansion: true });
    const storage = { size: "8Gi", storageClassName: "fsat", whenDeleted: "Retain", whenScaled: "Delete" } as const;
    drive.world.missingClasses.add("fsat");
    drive.create({ replicas: 1, storage, ...OPTIONAL });
    await drive.until("a typo", () => drive.status.blocked?.reason === "WaitingForFounder");
    drive.edit({ spec: { storage: { storageClassName: "fast" } } });
    await drive.converge("founding");
    drive.edit({ spec: { replicas: 3, version: null, storage: { size: "16Gi", whenDeleted: "Delete" } } });
    await drive.converge("to 3, with larger volumes, and a version that the operator writes");
    drive.edit({ spec: { version: "1.5.0" } });
    await drive.converge("to 1.5.0");
    drive.edit({ spec: { image: { tag: "0.0.0-missing" } } });
    await drive.until("a pod that does not start", () => drive.status.blocked?.reason === "MemberUnhealthy");
    drive.world.advance(600_000);
    await drive.operator.reconcile(drive.namespace, drive.name);
    drive.edit({ spec: { image: { tag: null } } });
    await drive.converge("back to an image that there is");
    drive.world.refusalOf = (kind) => (kind === "pod" ? "exceeded quota: small" : null);
    drive.edit({ spec: { replicas: 5 } });
    await drive.until("a pod that cannot be created", () => drive.status.blocked?.reason === "PodNotCreated");
    drive.world.refusalOf = () => null;
    await drive.converge("to 5");
    const { podMonitor, rules } = { podMonitor: { enabled: false }, rules: { enabled: false } };
    const nothing = { networkPolicy: { enabled: false }, podDisruptionBudget: { enabled: false } };
    const services = { leader: { enabled: false } };
    drive.edit({ spec: { replicas: 1, ...nothing, services, monitoring: { podMonitor, rules } } });
    await drive.converge("to 1, with nothing optional");
    members = store.list("roles").flatMap(({ rules: each }) => each);
  }

  async function askForCertificates(drive: Drive): Promise<void> {
    const certificates = () => drive.world.api.store.list("certificates").length;
    drive.create({ replicas: 1, tls: { ...CERT_MANAGER, certificateDays: 90, renewBeforeDays: 30 } });
    await drive.until("a certificate", () => certificates() === 1);
    drive.edit({ spec: { tls: { mode: "Auto", issuerRef: null } } });
    await drive.until("no certificate", () => certificates() === 0);
  }

  async function takeBackups(drive: Drive): Promise<void> {
    const backups = new BackupDrive(drive);
    await backups.begin();
    try {
      const { store } = drive.world.api;
      store.create("persistentvolumeclaims", "default", {
        metadata: { name: "backups" },
        spec: { resources: { requests: { storage: "1Gi" } } },
      });
      backups.create("CoordinationBackupStore", "store", { directory: { claimName: "backups" } });
      await backups.reconcile("CoordinationBackupStore", "store");
      drive.create({ replicas: 1, backup: { storeName: "store", archive: true, interval: "24h" } });
      await drive.until("a member", () => drive.condition("Available") === "True QuorumConfirmed");
      backups.create("CoordinationBackupSchedule", "hourly", {
        clusterName: "demo",
        schedule: "0 * * * *",
        timeZone: "Etc/UTC",
        suspend: false,
        concurrencyPolicy: "Forbid",
        successfulHistoryLimit: 0,
        failedHistoryLimit: 0,
      });
      drive.world.now += 3_600_000;
      await backups.until("begun", () => drive.world.backups.runs.length === 1);
      drive.world.backups.succeed();
      await backups.until("tidy", () => backups.list("CoordinationBackup").length === 0);
    } finally {
      await backups.end();
    }
  }

  async function recoverQuorum(drive: Drive): Promise<void> {
    drive.create({ replicas: 3 });
    await drive.converge("founding of three");
    drive.world.loseDisk("demo-1");
    drive.world.loseDisk("demo-2");
    await drive.until("the loss", () => drive.condition("QuorumLost") === "True MajorityDataLost");
    drive.edit({ metadata: { annotations: { [RECOVER_QUORUM]: drive.status.clusterId } } });
    await drive.converge("the recovery");
  }

  async function workAsProcess(drive: Drive): Promise<void> {
    drive.world.now = Date.now();
    const { api } = drive.world;
    installDefinitions(api.store);
    const connection = await connect(configOf(api.url));
    const operator = new Operator({
      connection,
      instance: "one",
      leaseName: "quoin-operator",
      watchNamespaces: [],
      timing: systemTiming,
      settings: { operatorNamespace: NAMESPACE, clusterDomain: "cluster.local", manualUrl: "" },
      defaults: { version: "1.4.0", repository: "quoin" },
      planCertificates: async () => ({ writes: [], problem: null, tls: null, renewed: false }),
      endpointOf: ({ metadata }) => {
        const port = drive.world.portOf(metadata?.uid ?? "");
        return port === null ? null : `127.0.0.1:${port}`;
      },
      logger: createLogger("silent", "one"),
    });
    await operator.listen("127.0.0.1", 0);
    const end = operator.run();
    try {
      drive.create({ replicas: 1 });
      await until(() => drive.condition("Ready") === "True AsAsked" && api.store.list("events").length > 0);
    } finally {
      await operator.stop();
      await end;
      await connection.close();
    }
  }

  it("suffice for all that it does: found, grow, roll, recover, shrink, watch, and hold the Lease", () => {
    expect(used.size).to.be.greaterThan(50);
    expect([...missing]).to.deep.equal([]);
  });

  it("go no further than that", () => {
    const unused = [...everywhere, ...own].filter((right) => !used.has(right) && !ASKED_FOR_ELSEWHERE.has(right));
    expect(unused).to.deep.equal([]);
  });

  it("hold all that it gives to members", () => {
    const given = members.flatMap((rule) => rightsOf({ ...rule, resourceNames: [""] }));
    expect(given).to.include.members(["get pods", "patch pods"]);
    expect([...everywhere]).to.include.members(given);
  });
});
