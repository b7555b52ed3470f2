import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { canReadTiltfile, readTiltfile, type TiltCall } from "../tilt/index.ts";
import { repositoryRoot } from "./command.ts";

function isMissing(path: string): boolean {
  return !existsSync(join(repositoryRoot, path));
}

describe("the Tiltfile", () => {
  let calls: readonly TiltCall[];

  before(function () {
    if (!canReadTiltfile()) {
      console.log("      skipped: python3 is not installed");
      this.skip();
    }
    calls = readTiltfile();
  });

  const argsOf = (name: string) => calls.filter((call) => call.name === name).map(({ args }) => args.map(String));

  it("syncs existing folders to their places in the image", () => {
    const image = readFileSync(join(repositoryRoot, "Dockerfile"), "utf8");
    const synced = argsOf("sync");
    expect(synced).to.have.length(5);
    for (const [from = "", to = ""] of synced) {
      expect(isMissing(from), from).to.equal(false);
      expect(to).to.equal(`/quoin/${from}`);
      const [folder] = from.split("/");
      expect(image).to.include(`COPY --chown=\${OWNER} ${folder} ${folder}\n`);
    }
  });

  it("installs existing files, and falls back on existing files", () => {
    const values = calls.flatMap(({ name, named }) => (name === "helm" ? (named.values as string[]) : []));
    const fallbacks = calls.flatMap(({ name, args }) => (name === "fall_back_on" ? (args[0] as string[]) : []));
    const yaml = argsOf("k8s_yaml").flatMap(([path = ""]) => (path.endsWith(".yaml") ? [path] : []));
    const named = [...values, ...fallbacks, ...yaml, ...argsOf("helm").map(([chart = ""]) => chart)];
    expect(named).to.include.members(["crds/quoin.dev_coordinationclusters.yaml", "tilt/cluster.yaml"]);
    expect(named.filter(isMissing)).to.deep.equal([]);
  });

  it("installs no files of chart tests, which Tilt knows only by their folder", () => {
    const tests = globSync("charts/*/templates/**/*.yaml", { cwd: repositoryRoot }).filter((file) =>
      readFileSync(join(repositoryRoot, file), "utf8").includes("helm.sh/hook: test"),
    );
    expect(tests).to.deep.equal(["charts/quoin-cluster/templates/tests/test.yaml"]);
  });

  it("has buttons for transfer, scale and test with valid shell scripts", () => {
    const buttons = new Map(
      calls.flatMap(({ name, args, named }) =>
        name === "local_resource" ? [[String(args[0]), named.cmd as string[]]] : [],
      ),
    );
    expect([...buttons.keys()]).to.include.members(["transfer", "scale-1", "scale-3", "scale-5", "test"]);
    for (const [button, [program, script = ""]] of buttons) {
      expect(["sh", "kubectl"], button).to.include(program);
      if (program === "sh") {
        const { status, stderr } = spawnSync("sh", ["-n", script], { cwd: repositoryRoot, encoding: "utf8" });
        expect(status, stderr).to.equal(0);
      }
    }
  });
});

describe("the programs of the image", () => {
  const dockerfile = readFileSync(join(repositoryRoot, "Dockerfile"), "utf8");

  for (const folder of ["bin", "development"]) {
    for (const program of readdirSync(join(repositoryRoot, "image", folder))) {
      it(`replace the shell that starts them: ${folder}/${program}`, () => {
        const file = join(repositoryRoot, "image", folder, program);
        const { status, stderr } = spawnSync("sh", ["-n", file], { encoding: "utf8" });
        expect(status, stderr).to.equal(0);
        expect(readFileSync(file, "utf8")).to.match(/^#!\/bin\/sh\n(#.*\n)?exec node [^\n]+ "\$@"\n$/);
        expect(dockerfile).to.include(`COPY image/${folder} /usr/local/bin\n`);
      });
    }
  }

  it("are bundles, except for development, where they are sources that Tilt replaces", () => {
    const textsOf = (folder: string) =>
      readdirSync(join(repositoryRoot, "image", folder)).map((name) =>
        readFileSync(join(repositoryRoot, "image", folder, name), "utf8"),
      );
    expect(textsOf("bin").every((text) => /\/quoin\/dist\/[a-z-]+\.js /.test(text))).to.equal(true);
    expect(textsOf("development").filter((text) => text.includes("/dist/"))).to.deep.equal([]);
    expect(readFileSync(join(repositoryRoot, "Tiltfile"), "utf8")).to.include('target="development"');
    expect(dockerfile).to.match(/^FROM \$\{BASE_IMAGE\} AS development$/m);
  });
});
