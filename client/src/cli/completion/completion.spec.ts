import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../../../../testing/index.ts";
import { FakeRuntime, type ProgramRun, refuse, runProgram, ScriptedMember } from "../../../test/index.ts";
import { run } from "../index.ts";
import { escapeForBash, splitLine } from "./completion-line.ts";

const LAUNCHER = fileURLToPath(new URL("../../../bin/quoinctl.js", import.meta.url));

describe("completion", () => {
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({
      listKeys: ({ namespace, prefix }) => ({
        items: (namespace === "default" ? ["a b", "config/color", "config/size", "$HOME", "tab\there"] : ["other"])
          .filter((key) => key.startsWith(prefix))
          .map((key) => ({ key })),
      }),
      listNamespaces: ({ prefix }) => ({
        namespaces: ["default", "other"].filter((name) => name.startsWith(prefix)).map((name) => ({ name })),
      }),
      listLocks: () => ({ locks: [{ name: "nightly" }, { name: "shared", rw: true }, { name: "shared" }] }),
      listMemoryRegions: () => ({ regions: [{ regionId: "r-1", label: "frames" }] }),
      getSettings: () => ({
        settings: ["quota.user.api_keys", "token.lifetime_secs"].map((name) => ({ name, value: "" })),
      }),
      getCluster: () => ({ members: [{ name: "q-0" }, { name: "q-1", leader: true }] }),
      listLogs: () => ({ logs: [{ name: "orders", namespace: "default" }] }),
      listUsers: () => ({ users: [{ email: "ada@example.com", role: 3 }] }),
      listApiKeys: () => ({ keys: [{ name: "ci", keyPrefix: "qk_1" }] }),
    });
  });

  afterEach(() => member.stop());

  const environment = () => ({ QUOIN_ENDPOINTS: member.endpoint, QUOIN_TOKEN: "t" });

  function quoinctl(parameters: readonly string[], variables: Record<string, string> = {}): Promise<ProgramRun> {
    return runProgram(run, new FakeRuntime(), parameters, { environment: { ...environment(), ...variables } });
  }

  /** The lines for the last of some words, without descriptions. */
  async function offered(...words: string[]): Promise<string[]> {
    const { code, out, err } = await quoinctl(["__complete", "zsh", ...words]);
    expect({ code, err }, words.join(" ")).to.deep.equal({ code: 0, err: "" });
    return out.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
  }

  it("offers commands, and those below them", async () => {
    expect(await offered("l")).to.deep.equal(["lock", "log", "leader", "login", "logout"]);
    expect(await offered("lock", "r")).to.deep.equal(["release", "run"]);
    expect(await offered("-o", "json", "memory", "")).to.include.members(["allocate", "describe", "read", "write"]);
    expect(await offered("watch", "")).to.deep.equal(["keys", "locks"]);
    expect(await offered("kv", "absent", "")).to.deep.equal([]);
    expect((await quoinctl(["__complete", "zsh", "stat"])).out).to.match(/^status\tshow the members/);
  });

  it("offers options of the command and of all commands, and the choices of an option", async () => {
    expect(await offered("lock", "run", "--ki")).to.deep.equal(["--kill-after"]);
    expect(await offered("lock", "run", "--time")).to.deep.equal(["--timeout"]);
    expect(await offered("kv", "get", "--kill")).to.deep.equal([]);
    expect(await offered("status", "-o", "")).to.deep.equal(["table", "json", "yaml"]);
    expect(await offered("status", "--output=j")).to.deep.equal(["--output=json"]);
    expect(await offered("rwlock", "acquire", "--mode", "")).to.deep.equal(["read", "write"]);
    expect(await offered("completion", "--h")).to.deep.equal(["--help"]);
    expect(await offered("completion", "")).to.deep.equal(["bash", "zsh", "fish"]);
    expect(await offered("kv", "put", "--", "--ti")).to.deep.equal([]);
  });

  it("offers names of the cluster: namespaces, keys level by level, locks, regions, event logs, members, accounts", async () => {
    expect(await offered("kv", "get", "")).to.deep.equal(["default/", "other/", ":nospace"]);
    expect(await offered("memory", "list", "d")).to.deep.equal(["default"]);
    for (const command of ["run", "list"]) {
      expect(await offered("lock", command, "default/")).to.deep.equal(["default/nightly", "default/shared"]);
    }
    expect(await offered("rwlock", "describe", "default/")).to.deep.equal(["default/shared"]);
    expect(await offered("watch", "locks", "default/s")).to.deep.equal(["default/shared"]);
    expect(await offered("kv", "get", "default/")).to.deep.equal([
      ...["default/a b", "default/config/", "default/$HOME", ":nospace"],
    ]);
    expect(await offered("kv", "get", "default/config/c")).to.deep.equal(["default/config/color"]);
    expect(await offered("kv", "put", "default/a", "default/")).to.deep.equal([]);
    expect(await offered("watch", "keys", "n/o")).to.deep.equal(["n/other"]);
    expect(await offered("memory", "read", "default/")).to.deep.equal(["default/r-1"]);
    expect(await offered("log", "append", "def")).to.deep.equal(["default/orders"]);
    expect(await offered("log", "read", "or")).to.deep.equal(["orders"]);
    expect(await offered("settings", "put", "token.")).to.deep.equal(["token.lifetime_secs=", ":nospace"]);
    expect(await offered("settings", "put", "a=1", "quota")).to.deep.equal(["quota.user.api_keys=", ":nospace"]);
    expect(await offered("leader", "transfer", "")).to.deep.equal(["q-0", "q-1"]);
    expect(await offered("member", "remove", "q-0", "q")).to.deep.equal(["q-0", "q-1"]);
    expect(await offered("user", "update", "a")).to.deep.equal(["ada@example.com"]);
    expect(await offered("key", "list", "--user", "")).to.deep.equal(["ada@example.com"]);
    expect(await offered("key", "revoke", "")).to.deep.equal(["ci"]);
  });

  it("offers file names where a file can stand", async () => {
    expect(await offered("kv", "put", "default/k", "--file", "")).to.deep.equal([":files"]);
    expect(await offered("backup", "verify", "x")).to.deep.equal([":files"]);
    expect(await offered("lock", "run", "default/l", "--", "")).to.deep.equal([":files"]);
    expect(await offered("kv", "put", "default/k", "")).to.deep.equal([]);
  });

  it("is silent without a cluster, after a refusal, and for invalid options", async () => {
    member.scripts.listKeys = () => refuse({ code: "PERMISSION_DENIED", reason: "NAMESPACE_FORBIDDEN" });
    expect(await offered("kv", "get", "default/")).to.deep.equal([]);
    expect(await offered("-o", "nothing", "kv", "get", "default/")).to.deep.equal([]);
    expect(await offered("--endpoints", "nowhere", "kv", "get", "default/")).to.deep.equal([]);
    expect(await offered("--endpoints", "127.0.0.1:1", "kv", "get", "default/")).to.deep.equal([]);
    const nowhere = await runProgram(run, new FakeRuntime(), ["__complete", "zsh", "kv", "get", "default/"], {});
    expect(nowhere).to.include({ code: 0, out: "", err: "" });
  });

  it("gives up on a member that does not answer", async () => {
    member.scripts.listKeys = () => new Promise(() => undefined);
    const runtime = new FakeRuntime();
    const parameters = ["__complete", "zsh", "kv", "get", "default/"];
    const ran = runProgram(run, runtime, parameters, { environment: environment() });
    while (runtime.nextTimerMs === undefined) {
      await new Promise(setImmediate);
    }
    expect(runtime.nextTimerMs).to.equal(1_500);
    runtime.advance(1_500);
    expect(await ran).to.include({ code: 0, out: "", err: "" });
  });

  it("reads the line of bash as bash does, and escapes what it inserts", () => {
    expect(splitLine(`quoinctl  kv 'a b'"c d"\\ e "op`)).to.deep.equal({
      words: ["quoinctl", "kv", "a bc d e", "op"],
      quote: '"',
    });
    expect(splitLine("quoinctl kv ")).to.deep.equal({ words: ["quoinctl", "kv", ""], quote: "" });
    expect(splitLine("a ''")).to.deep.equal({ words: ["a", ""], quote: "" });
    expect(escapeForBash("a b$'é;")).to.equal("a\\ b\\$\\'\\é\\;");
  });

  it("knows bash, zsh and fish only", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await quoinctl(["completion", shell]);
      expect(code).to.equal(0);
      expect(out).to.include(`__complete ${shell}`);
    }
    expect(await quoinctl(["completion", "sh"])).to.include({ code: 2, out: "" });
  });

  describe("in real shells", function () {
    // Each press of the Tab key starts a process.
    this.timeout(60_000);

    /** Gives a test a directory with `bin/quoinctl` and a context. */
    async function withHome(work: (directory: string) => Promise<void>): Promise<void> {
      const directory = temporaryDirectory();
      await mkdir(path.join(directory, ".config/quoin"), { recursive: true });
      const file = path.join(directory, ".config/quoin/config.yaml");
      await writeFile(file, "contexts: { staging: {}, production: {} }\n");
      await chmod(file, 0o600);
      await mkdir(path.join(directory, "bin"));
      await symlink(LAUNCHER, path.join(directory, "bin/quoinctl"));
      await work(directory);
    }

    /** Runs a script, and returns its output. The scripted members answer meanwhile. */
    async function shell(
      directory: string,
      program: string,
      parameters: readonly string[],
      script: string,
    ): Promise<string> {
      const file = path.join(directory, "script");
      await writeFile(file, script);
      const PATH = `${path.join(directory, "bin")}:${path.dirname(process.execPath)}:${process.env.PATH}`;
      const env = { ...environment(), HOME: directory, PATH, TERM: "dumb", QUOIN_COMPLETION_TIMEOUT: "30s" };
      return (await promisify(execFile)(program, [...parameters, file], { cwd: directory, env })).stdout;
    }

    /** Skips the test if the machine does not have the shell. */
    function requireShell(this: Mocha.Context, program: string): void {
      try {
        execFileSync(program, ["--version"], { stdio: "ignore" });
      } catch {
        console.log(`      skipped: there is no ${program}`);
        this.skip();
      }
    }

    it("bash inserts commands, contexts and keys, each with the escapes that it needs", function () {
      requireShell.call(this, "bash");
      return withHome(async (directory) => {
        const asked = (line: string, words: string) =>
          `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); ` +
          `_quoinctl; printf '<%s>' "\${COMPREPLY[@]}"; echo\n`;
        const out = await shell(
          directory,
          "bash",
          ["--norc"],
          `source <(quoinctl completion bash)\n${[
            asked("quoinctl lo", "quoinctl lo"),
            asked("quoinctl context use s", "quoinctl context use s"),
            asked("sudo quoinctl kv get default/", "quoinctl kv get default/"),
            asked('quoinctl kv get "default/a', `quoinctl kv get '"default/a'`),
            asked("quoinctl status --output=j", "quoinctl status --output = j"),
          ].join("")}`,
        );
        expect(out.split("\n")).to.deep.equal([
          "<lock><log><login><logout>",
          "<staging>",
          "<default/a\\ b><default/config/><default/\\$HOME>",
          "<default/a b>",
          "<json>",
          "",
        ]);
      });
    });

    it("zsh offers commands, contexts and keys", function () {
      requireShell.call(this, "zsh");
      return withHome(async (directory) => {
        // Outside of its line editor, zsh has no compadd: this one prints what the script passes to it.
        const stub = `compadd() { print -r -- \${(q)values} $argv[1] }; compdef() { :; }; compstate=(nmatches 1)`;
        const asked = (...words: string[]) => `words=(${words.join(" ")}); CURRENT=${words.length}; _quoinctl\n`;
        const out = await shell(
          directory,
          "zsh",
          ["-f"],
          `typeset -A compstate; ${stub}\nsource <(quoinctl completion zsh)\n${[
            asked("quoinctl", "lo"),
            asked("quoinctl", "context", "use", "s"),
            asked("quoinctl", "kv", "get", "default/"),
          ].join("")}`,
        );
        expect(out.split("\n")).to.deep.equal([
          "lock log login logout -l",
          "staging -l",
          "default/a\\ b default/config/ default/\\$HOME -S",
          "",
        ]);
      });
    });

    it("fish offers commands with descriptions, contexts, keys and files", function () {
      requireShell.call(this, "fish");
      return withHome(async (directory) => {
        await writeFile(path.join(directory, "a-file"), "");
        const asked = (line: string) => `complete --do-complete '${line}'\n`;
        const out = await shell(
          directory,
          "fish",
          ["--no-config"],
          `quoinctl completion fish | source\n${[
            asked("quoinctl log"),
            asked("quoinctl context use s"),
            asked("quoinctl kv get default/c"),
            asked("quoinctl kv put n/k --file a-f"),
          ].join("")}`,
        );
        expect(out).to.match(/^log\tcreate, append to.*\nlogin\t.*\nlogout\t.*\nstaging\ndefault\/config\/\na-file\n$/);
      });
    });
  });
});
