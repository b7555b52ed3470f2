import { expect } from "chai";
import type { Any } from "../../test/api-server/index.ts";
import { Drive } from "../../test/world/index.ts";

describe("fields that other writers have added", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
    await drive.founded(3);
  });

  afterEach(() => drive.end());

  function specOf(plural: string): Any {
    return drive.world.api.store.get(plural, "default", "demo").spec;
  }

  function merge(plural: string, spec: object): void {
    const { store } = drive.world.api;
    store.merge(plural, store.get(plural, "default", "demo"), { spec });
  }

  it("takes back a disruption budget that another writer has switched to another rule", async () => {
    const before = specOf("poddisruptionbudgets");
    merge("poddisruptionbudgets", { minAvailable: null, maxUnavailable: "100%" });
    await drive.converge("taken back");
    expect(specOf("poddisruptionbudgets")).to.deep.equal(before);
    expect(drive.operator.failures.filter((text) => !text.includes(" 409 "))).to.deep.equal([]);
  });

  it("removes addresses that others have added to a Service, and what lets traffic to members that are not ready", async () => {
    const before = specOf("services");
    merge("services", { externalIPs: ["192.0.2.1"], publishNotReadyAddresses: true });
    drive.world.advance(90_000);
    await drive.operator.reconcile("default", "demo");
    expect(specOf("services")).to.deep.equal(before);
    expect(drive.operator.events.at(-1)?.note).to.include("Service demo");
  });
});
