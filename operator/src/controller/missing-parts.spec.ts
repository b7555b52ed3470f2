import { expect } from "chai";
import { Drive } from "../../test/world/index.ts";

describe("what a cluster lacks", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
  });

  afterEach(() => drive.end());

  it("shows at TLS when the API server does not know the certificates of cert-manager", async () => {
    const issuerRef = { name: "internal", kind: "Issuer", group: "cert-manager.io" };
    drive.create({
      replicas: 1,
      tls: { mode: "CertManager", issuerRef, certificateDays: 90, renewBeforeDays: 30 },
    });
    await drive.until("told", () => drive.condition("TLSReady") === "False CertificateNotServed");
    expect(drive.condition("MonitoringReady")).to.equal("True MonitoringAsAsked");
  });

  it("shows that there is no Secret of the owner before the cluster is founded", async () => {
    drive.create({ replicas: 3, access: { ownerEmail: "a@b.example", ownerSecretRef: { name: "no" } } });
    await drive.until("told", () => drive.condition("OwnerSecretReady") === "False NotFounded");
  });

  it("shows when the API server does not know the monitoring kinds, and does everything else", async () => {
    drive.create({ replicas: 1, monitoring: { podMonitor: { enabled: true }, rules: { enabled: false } } });
    await drive.converge("founding");
    expect(drive.condition("MonitoringReady")).to.equal("False PodMonitorNotServed");
    drive.world.api.served.add("podmonitors");
    drive.world.advance(60_000);
    await drive.until("served", () => drive.condition("MonitoringReady") === "True MonitoringAsAsked");
    expect(drive.world.api.store.get("podmonitors", "default", "demo").spec.podMetricsEndpoints).to.have.length(1);
  });
});
