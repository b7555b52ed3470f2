import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { usageOf } from "./process-usage.ts";

const BUSY_MS = 200;
const BUSY = `
const { cpuUsage } = process;
const start = cpuUsage();
while (cpuUsage(start).user < ${BUSY_MS * 1000}) {}
`;

describe("the usage of a process", () => {
  it("counts the main thread apart from the others", async () => {
    const before = usageOf(process.pid);
    await once(new Worker(BUSY, { eval: true }), "exit");
    const after = usageOf(process.pid);
    const grown = (of: "cpuMs" | "mainThreadCpuMs") => (after?.[of] ?? 0) - (before?.[of] ?? 0);
    // The clock has ticks of 10 ms.
    expect(grown("cpuMs")).to.be.at.least(BUSY_MS - 20);
    expect(grown("cpuMs") - grown("mainThreadCpuMs")).to.be.at.least(BUSY_MS / 2);
    expect(before?.mainThreadCpuMs).to.be.above(0);
  });

  it("is unknown without the process", () => {
    expect(usageOf(2 ** 30)).to.equal(null);
  });
});
