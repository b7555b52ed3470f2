/**
 * Draws the diagrams of the documents: docs/diagrams/*.dot are graphs for Graphviz, docs/diagrams/*.sequence are
 * sequence diagrams of our own, and docs/diagrams/*.trace are recorded traces. Each becomes the SVG file beside it. With --check it names the outdated files, and exits
 * with 1 if there is one. Exits with 2 on wrong use.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { instance } from "@viz-js/viz";
import { generate } from "../generated/index.ts";
import { drawSequence, escapeMarkup } from "./sequence.ts";
import { drawTrace } from "./trace.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

await generate({
  script: "scripts/diagrams/main.ts",
  files: drawAll,
  complaint: "is not what its source describes: run npm run docs:diagrams",
});

async function drawAll(): Promise<ReadonlyMap<string, string>> {
  const viz = await instance();
  const pictures = new Map<string, string>();
  for (const name of globSync("docs/diagrams/*.{dot,sequence,trace}", { cwd: ROOT }).sort()) {
    const text = readFileSync(path.join(ROOT, name), "utf8");
    pictures.set(name.replace(/\.\w+$/, ".svg"), drawn(path.extname(name), text, viz));
  }
  return pictures;
}

function drawn(extension: string, text: string, viz: Awaited<ReturnType<typeof instance>>): string {
  switch (extension) {
    case ".dot":
      return titled(viz.renderString(text, { format: "svg" }), text);
    case ".trace":
      return drawTrace(text);
    default:
      return drawSequence(text);
  }
}

/**
 * Uses the first comment of the source as the title, and drops everything before the SVG element: a document type on
 * another host, and a comment with a version of Graphviz.
 */
function titled(svg: string, source: string): string {
  const [, title = ""] = /^\/\/ (.+)$/m.exec(source) ?? [];
  return svg.slice(svg.indexOf("<svg")).replace(/<svg[^>]*>/, (tag) => `${tag}\n<title>${escapeMarkup(title)}</title>`);
}
