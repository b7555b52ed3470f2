import { spawnSync } from "node:child_process";
import { expect } from "chai";

const PROGRAM = `import { abortProcess } from ${JSON.stringify(new URL("./abort-process.ts", import.meta.url))};
console.log(process.pid);
abortProcess();`;
const NODE = [process.execPath, "--input-type=module", "--eval", PROGRAM];
/** A new process namespace, in which Node is the first process, as in a container. */
const FIRST_PROCESS = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"];
const LIMIT_MS = 30_000;

describe("abortProcess", function () {
  this.timeout(60_000);

  function run([program = "", ...args]: readonly string[]) {
    return spawnSync(program, args, { encoding: "utf8", timeout: LIMIT_MS, killSignal: "SIGTERM" });
  }

  it("ends the process as SIGKILL does", () => {
    const { signal, stdout } = run(NODE);
    expect([signal, Number(stdout) > 1]).to.deep.equal(["SIGKILL", true]);
  });

  it("ends the first process of a container too, which its own SIGKILL does not reach", function () {
    if (run([...FIRST_PROCESS, "true"]).status !== 0) {
      console.log("      skipped: process namespaces are not available here");
      this.skip();
    }
    const { status, signal, stdout, error } = run([...FIRST_PROCESS, ...NODE]);
    expect(error).to.equal(undefined);
    expect(stdout).to.equal("1\n");
    // The command reports a signal in the shell's way; the C library chooses which signal ends an abort.
    expect(signal ?? status).to.be.oneOf(["SIGSEGV", "SIGABRT", "SIGILL", 128 + 11, 128 + 6, 128 + 4]);
  });
});
