/** A member that listens on every address can be reached at each address family of its network. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { Context } from "mocha";
import { temporaryDirectory } from "../../../testing/index.ts";
import { TestProcess } from "../harness/index.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const WITHOUT_IPV6 = fileURLToPath(new URL("./without-ipv6.py", import.meta.url));
const [IPV4, IPV6] = ["10.7.0.7", "fd00::7"];
const PORTS = ["grpc", "http", "peer", "admin", "health"];
/** A network namespace of its own, which ends with the process. */
const ALONE = ["unshare", "--map-root-user", "--net"];
/** Prints, for each address in its arguments, whether a connection succeeds. */
const DIAL = `
const { connect } = require("node:net");
Promise.all(process.argv.slice(1).map((address) => new Promise((resolve) => {
  const { hostname, port } = new URL("tcp://" + address);
  const socket = connect({ host: hostname.replace(/^\\[|\\]$/g, ""), port: Number(port) });
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
}))).then((reached) => { console.log(JSON.stringify(reached)); process.exit(); });`;

interface Place {
  readonly title: string;
  /** Commands that give the namespace its addresses. */
  readonly setup: readonly string[];
  /** The command that replaces itself with the rest. */
  readonly through: readonly string[];
  readonly reached: readonly string[];
}

const ADD_IPV4 = `ip address add ${IPV4}/32 dev lo`;
const ADD_IPV6 = `ip address add ${IPV6}/128 dev lo nodad`;
const PLACES: readonly Place[] = [
  {
    title: "in a network of IPv6 alone",
    setup: [ADD_IPV6, "ip address delete 127.0.0.1/8 dev lo"],
    through: [],
    reached: [IPV6],
  },
  {
    title: "in a network with IPv6 and IPv4",
    // Members do not depend on the system's default for IPv6 sockets.
    setup: [ADD_IPV4, ADD_IPV6, "echo 1 > /proc/sys/net/ipv6/bindv6only"],
    through: [],
    reached: [IPV4, IPV6],
  },
  {
    title: "in a network whose IPv6 is disabled",
    setup: [ADD_IPV4, "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6"],
    through: [],
    reached: [IPV4],
  },
  { title: "on a kernel without IPv6", setup: [ADD_IPV4], through: ["python3", WITHOUT_IPV6], reached: [IPV4] },
];

describe("a member that listens on every address", function () {
  this.timeout(60_000);
  const running = TestProcess.ofEachTest();

  /** Skips the test if these commands cannot start another one. */
  function requirePossible(current: Context, [program = "", ...args]: readonly string[]): void {
    const { status, stderr, error } = spawnSync(program, [...args, "true"], { encoding: "utf8" });
    if (status !== 0) {
      console.log(`      skipped: this machine cannot do what the test needs: ${error ?? stderr}`);
      current.skip();
    }
  }

  function wayInto({ setup, through }: Place): string[] {
    const script = ["set -e", "ip link set lo up", ...setup, 'exec "$@"'].join("\n");
    return [...ALONE, "sh", "-c", script, "sh", ...through];
  }

  /** Dials from the network of a process: for each address, whether it can be reached. */
  function dial({ pid }: TestProcess, addresses: readonly string[]): boolean[] {
    const inside = ["--target", String(pid), "--user", "--net", "--preserve-credentials"];
    const { stdout, stderr } = spawnSync("nsenter", [...inside, process.execPath, "--eval", DIAL, "--", ...addresses], {
      encoding: "utf8",
    });
    expect(stdout, stderr).to.not.equal("");
    return JSON.parse(stdout);
  }

  it("serves gRPC at a name with addresses of both families, on a kernel without IPv6", async function () {
    const directory = temporaryDirectory();
    const hosts = join(directory, "hosts");
    writeFileSync(hosts, "127.0.0.1 both.example\n::1 both.example\n");
    const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
    const through = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, hosts, "python3", WITHOUT_IPV6];
    requirePossible(this, through);
    const data = join(directory, "data");
    const flags = ["--name", "q-0", "--data-dir", data, "--grpc", "both.example:0", "--http", "127.0.0.1:0"];
    const member = new TestProcess(MAIN, flags, { through });
    running.push(member);
    await member.untilPrinted('"msg":"listening"');
    expect(member.stdout).to.match(/"grpc":"both.example:[1-9][0-9]*"/);
  });

  for (const place of PLACES) {
    it(`is reached at each port ${place.title}`, async function () {
      requirePossible(this, wayInto(place));
      const directory = temporaryDirectory();
      const tokens = join(directory, "tokens");
      writeFileSync(tokens, "a token\n", { mode: 0o600 });
      const member = new TestProcess(
        MAIN,
        [
          ...["--name", "q-0", "--data-dir", join(directory, "data")],
          ...PORTS.flatMap((port) => [`--${port}`, "*:0"]),
          ...["--join-token-file", tokens, "--admin-token-file", tokens, "--advertise-peer", "q-0:7402"],
        ],
        { through: wayInto(place) },
      );
      running.push(member);
      await member.untilPrinted('"msg":"listening"');
      const line = member.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
      const listening: Record<string, string> = JSON.parse(line);
      for (const port of PORTS) {
        expect(listening[port], port).to.match(/^\*:[1-9][0-9]*$/);
      }
      for (const [address, host] of [
        [IPV4, IPV4],
        [IPV6, `[${IPV6}]`],
      ] as const) {
        const endpoints = PORTS.map((port) => (listening[port] ?? "").replace("*", host));
        const expected = PORTS.map(() => place.reached.includes(address));
        expect(dial(member, endpoints), address).to.deep.equal(expected);
      }
    });
  }
});
