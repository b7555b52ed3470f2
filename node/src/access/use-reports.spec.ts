import { expect } from "chai";
import type { ReportedUse } from "../state/index.ts";
import { type ReportDone, UseReports } from "./use-reports.ts";

const KEY = { subject: "ada", apiKeyId: "k1" };
const LOGIN = { subject: "ada", apiKeyId: "" };

describe("reports of use", () => {
  let nowMs: number;
  let sent: { readonly uses: readonly ReportedUse[]; readonly done: ReportDone }[];
  let canReport: boolean;
  let reports: UseReports;

  beforeEach(() => {
    nowMs = 0;
    sent = [];
    canReport = true;
    const report = (uses: readonly ReportedUse[], done: ReportDone) => {
      if (canReport) {
        sent.push({ uses, done });
      }
      return canReport;
    };
    reports = new UseReports({ monotonicMs: () => nowMs }, report);
  });

  function seconds(count: number): void {
    for (let second = 0; second < count; second++) {
      nowMs += 1_000;
      reports.onSecond();
    }
  }

  function told(): string[] {
    return sent.map(({ uses }) => {
      return uses
        .map(({ principal, requests, kvOperations, lockOperations, memoryOperations }) => {
          return `${principal.apiKeyId || "login"} ${requests}=${kvOperations}+${lockOperations}+${memoryOperations}`;
        })
        .join(", ");
    });
  }

  it("are sent within a second of the first use, and then once a minute with the collected counts", () => {
    reports.used(KEY);
    seconds(1);
    expect(told()).deep.equal(["k1 0=0+0+0"]);
    reports.used(KEY);
    for (const area of ["keys", "keys", "locks", "memory", "other"] as const) {
      reports.read(KEY, area);
    }
    seconds(59);
    expect(sent).have.length(1);
    seconds(1);
    expect(told()[1]).equal("k1 5=2+1+1");
    seconds(300);
    expect(sent, "idle principals are not reported").have.length(2);
  });

  it("contain only the reads of logins", () => {
    reports.used(LOGIN);
    seconds(100);
    expect(sent).deep.equal([]);
    reports.read(LOGIN, "keys");
    seconds(1);
    expect(told()).deep.equal(["login 1=1+0+0"]);
  });

  it("wait until they are possible, and lose nothing", () => {
    canReport = false;
    reports.read(KEY, "keys");
    seconds(5);
    reports.read(KEY, "keys");
    canReport = true;
    seconds(1);
    expect(told()).deep.equal(["k1 2=2+0+0"]);
  });

  it("are repeated only if they were certainly not executed", () => {
    reports.read(KEY, "keys");
    seconds(1);
    reports.read(KEY, "locks");
    sent[0]?.done(true);
    seconds(60);
    expect(told()).deep.equal(["k1 1=1+0+0", "k1 2=1+1+0"]);
    sent[1]?.done(false);
    seconds(300);
    expect(sent).have.length(2);
  });

  it("have a limited number of principals, and the next report has the others", () => {
    for (let count = 0; count < 300; count++) {
      reports.used({ subject: "ada", apiKeyId: `k${count}` });
    }
    seconds(1);
    expect(sent.map(({ uses }) => uses.length)).deep.equal([256]);
    seconds(1);
    expect(sent.map(({ uses }) => uses.length)).deep.equal([256, 44]);
  });

  it("cover a limited number of principals, and new ones after idle ones are dropped", () => {
    canReport = false;
    for (let count = 0; count < 10_001; count++) {
      reports.used({ subject: "ada", apiKeyId: `k${count}` });
    }
    canReport = true;
    seconds(200);
    expect(sent.reduce((sum, { uses }) => sum + uses.length, 0)).equal(10_000);
    reports.used(KEY);
    seconds(1);
    expect(told().at(-1)).equal("k1 0=0+0+0");
  });
});
