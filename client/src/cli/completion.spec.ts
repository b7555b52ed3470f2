import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { FakeRuntime, type ProgramRun, runProgram } from "../../test/index.ts";
import { run } from "./program.ts";

describe("completion", () => {
  function quoinctl(...parameters: string[]): Promise<ProgramRun> {
    return runProgram(run, new FakeRuntime(), parameters, {});
  }

  /** The offers of bash for the last of some words. */
  async function offered(...words: string[]): Promise<string[]> {
    const { out } = await quoinctl("completion", "bash");
    const line = ["quoinctl", ...words].map((word) => `'${word}'`).join(" ");
    const asked = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _quoinctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["--norc"], { input: `${out}\n${asked}\n`, encoding: "utf8" })
      .trim()
      .split("\n");
  }

  it("offers commands, and those below them", async () => {
    expect(await offered("l")).to.deep.equal(["lock", "log", "leader", "login"]);
    expect(await offered("lock", "r")).to.deep.equal(["release", "run"]);
    expect(await offered("-o", "json", "memory", "")).to.include.members(["allocate", "describe", "read", "write"]);
    expect(await offered("watch", "")).to.include.members(["keys", "locks"]);
  });

  it("offers options of the command and of all commands, and the choices of an option", async () => {
    expect(await offered("lock", "run", "--ki")).to.deep.equal(["--kill-after"]);
    expect(await offered("lock", "run", "--time")).to.deep.equal(["--timeout"]);
    expect(await offered("kv", "get", "--kill")).to.deep.equal([""]);
    expect(await offered("status", "-o", "")).to.deep.equal(["table", "json", "yaml"]);
    expect(await offered("rwlock", "acquire", "--mode", "")).to.deep.equal(["read", "write"]);
    expect(await offered("completion", "--h")).to.deep.equal(["--help"]);
  });

  it("knows every command in every shell", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await quoinctl("completion", shell);
      expect(code).to.equal(0);
      for (const command of [
        "quoinctl kv put",
        "quoinctl lock run",
        "quoinctl rwlock acquire",
        "quoinctl watch locks",
        "quoinctl user update",
        "quoinctl settings put",
      ]) {
        expect(out, `${shell}: ${command}`).to.include(command);
      }
    }
    const { out } = await quoinctl("completion", "fish");
    expect(out).to.include("complete -c quoinctl -n '__quoinctl_path quoinctl lock run' -l kill-after -r -d");
    expect(out).to.include("-s o -l output -x -a 'table json yaml'");
  });

  it("refuses other shells", async () => {
    expect(await quoinctl("completion", "sh")).to.include({ code: 2, out: "" });
  });
});
