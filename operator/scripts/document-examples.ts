/**
 * The objects of our kinds that documents show: in blocks of YAML, in here-documents and on the command lines of shell
 * blocks. Excerpts that contain only a specification, and patches of `kubectl patch qc`, are CoordinationClusters.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

const ROOT = path.resolve(import.meta.dirname, "../..");
const GROUP = /^quoin\.dev\//;

export interface DocumentExample {
  /** Path of the document. */
  readonly document: string;
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}

/** An object or a part of it, as YAML or JSON has it. */
interface Shown {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: object;
}

/** All of them, in the order of documents and of their places in them. */
export function findDocumentExamples(): readonly DocumentExample[] {
  return globSync(["README.md", "*/README.md", "charts/*/README.md", "docs/**/*.md"], {
    cwd: ROOT,
    exclude: ["node_modules"],
  })
    .sort()
    .flatMap((document) => {
      const text = readFileSync(path.join(ROOT, document), "utf8");
      return textsOf(text).flatMap((shown) => exampleOf(document, parse(shown)));
    });
}

function textsOf(document: string): readonly string[] {
  const blocks = (language: string) => allOf(document, new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  const shell = blocks("sh").flatMap((code) => [
    // For kubectl, or in a file of its kind; a page may also write a program.
    ...[...code.matchAll(/(?:kubectl apply|\.yaml) .*<<'?(\w+)'?\n([\s\S]*?)^\1$/gm)].map(([, , text = ""]) => text),
    ...allOf(code, /^echo '(\{[^']*\})' \| kubectl /gm),
    ...allOf(code, /^kubectl patch qc \S+ .*-p '([^']*)'/gm),
  ]);
  return [...blocks("yaml"), ...shell];
}

function exampleOf(document: string, { apiVersion, kind, metadata, spec }: Shown): DocumentExample[] {
  if (spec === undefined || !(apiVersion === undefined ? kind === undefined : GROUP.test(apiVersion))) {
    return [];
  }
  return [{ document, kind: kind ?? "CoordinationCluster", name: metadata?.name ?? "demo", spec }];
}

function allOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}
