import { expect } from "chai";
import { CERTIFICATE_METRICS } from "./certificate-metrics.ts";
import { Metrics } from "./metrics.ts";

describe("metrics of certificates", () => {
  it("report how long each certificate in use is valid, and nothing without one", async () => {
    let endMs: number | null = 90_000;
    const metrics = new Metrics(() => 0);
    metrics.add(CERTIFICATE_METRICS, {
      wallMs: () => 30_000,
      expiresMs: { members: () => endMs, clients: () => null },
    });
    const value = async (): Promise<string | undefined> => {
      return (await metrics.metrics()).split("\n").find((line) => line.startsWith("quoin_certificate_expiry_seconds{"));
    };
    expect(await value()).to.equal('quoin_certificate_expiry_seconds{shown_to="members"} 60');
    endMs = null;
    const other = new Metrics(() => 0);
    other.add(CERTIFICATE_METRICS, {
      wallMs: () => 30_000,
      expiresMs: { members: () => endMs, clients: () => 10_000 },
    });
    expect((await other.metrics()).match(/^quoin_certificate_expiry_seconds\{.*$/gm)).to.deep.equal([
      'quoin_certificate_expiry_seconds{shown_to="clients"} -20',
    ]);
  });
});
