import { readFileSync } from "node:fs";
import { expect } from "chai";
import { freeBasePort, MEMBERS_MAX, portsOf } from "./ports.ts";

const RANGE_FILE = "/proc/sys/net/ipv4/ip_local_port_range";
const TIMES = 20;

describe("free ports for members", () => {
  it("are outside the range of outgoing connections", async function () {
    if (process.platform !== "linux") {
      return this.skip();
    }
    const [lowest = 0] = readFileSync(RANGE_FILE, "utf8").trim().split(/\s+/).map(Number);
    for (let time = 0; time < TIMES; time++) {
      const last = portsOf(await freeBasePort(), MEMBERS_MAX - 1);
      expect(Math.max(...Object.values(last))).to.be.below(lowest);
    }
  });
});
