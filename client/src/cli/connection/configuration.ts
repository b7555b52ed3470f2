/**
 * The user's configuration file: `quoin/config.yaml` in $XDG_CONFIG_HOME or ~/.config. It has the contexts, and the name
 * of the current one.
 *
 * People edit the file too, so a change leaves their comments and the order as they are. It is written under another
 * name, with access only for its owner, and renamed. Of two commands that change it at the same time, one waits.
 */

import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import type { Document } from "yaml";
import { UsageError } from "../errors/index.ts";
import {
  FieldReader,
  type Fields,
  isOfFileSystem,
  readPossiblyPrivateFile,
  replacePrivateFile,
  unusable,
  withFileLock,
} from "../files/index.ts";
import type { Terminal } from "../terminal/index.ts";

/** Where to look for the file. */
export type ConfigurationPlace = Pick<Terminal, "environment" | "homeDirectory">;

/** The content of the file. */
export interface Configuration {
  readonly file: string;
  /** Whether the file exists. */
  readonly exists: boolean;
  /** Whether only its owner can use it. */
  readonly isPrivate: boolean;
  /** The name of the current context; undefined = none. */
  readonly current: string | undefined;
  /** The contexts by name. */
  readonly contexts: Fields;
}

/** Only the owner may use the folder that is made for the file. */
const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Reads the file; without one there are no contexts.
 *
 * @throws UsageError if it is unusable.
 */
export async function readConfiguration(place: ConfigurationPlace): Promise<Configuration> {
  const file = configurationFile(place);
  const found = await readPossiblyPrivateFile(file);
  if (found === undefined) {
    return { file, exists: false, isPrivate: true, current: undefined, contexts: new Map() };
  }
  return { file, exists: true, isPrivate: found.isPrivate, ...readFields(file, await parse(file, found.content)) };
}

/** @throws UsageError if the document does not have the form of a configuration. */
function readFields(file: string, document: Document): Pick<Configuration, "current" | "contexts"> {
  const fields = new FieldReader(file, document.toJS({ mapAsMap: true }) ?? new Map());
  return { current: fields.text("current"), contexts: fields.object("contexts") ?? new Map() };
}

/**
 * Changes the file, and creates it if necessary.
 *
 * @param change alters the document; what it throws leaves the file unchanged.
 * @throws UsageError if the file is unusable or cannot be written.
 */
export async function changeConfiguration(
  { environment, homeDirectory, runtime }: ConfigurationPlace & Pick<Terminal, "runtime">,
  change: (document: Document) => void,
): Promise<void> {
  const named = configurationFile({ environment, homeDirectory });
  try {
    await mkdir(path.dirname(named), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    // The file may be a link, as users make it who keep their settings elsewhere.
    const file = await realpath(named).catch(() => named);
    await withFileLock(`${file}.lock`, runtime, async (isHeld) => {
      const document = await parse(file, (await readPossiblyPrivateFile(file))?.content ?? "");
      readFields(file, document);
      change(document);
      await replacePrivateFile(file, document.toString({ lineWidth: 0, flowCollectionPadding: false }), async () => {
        if (!(await isHeld())) {
          throw new UsageError(`another command changed ${file} meanwhile`, "repeat the command");
        }
      });
    });
  } catch (error) {
    if (!isOfFileSystem(error)) {
      throw error;
    }
    throw unusable(named, "written", error);
  }
}

function configurationFile({ environment, homeDirectory }: ConfigurationPlace): string {
  const configured = environment.XDG_CONFIG_HOME;
  // The XDG Base Directory Specification says to ignore a relative path.
  const base =
    configured !== undefined && path.isAbsolute(configured) ? configured : path.join(homeDirectory, ".config");
  return path.join(base, "quoin", "config.yaml");
}

/** The parser's message quotes the text, which may be a secret; the line number is enough. */
async function parse(file: string, text: string): Promise<Document> {
  const { parseDocument } = await import("../yaml/index.ts");
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error === undefined) {
    return document;
  }
  const line = error.linePos?.[0].line;
  throw new UsageError(`${file} is not valid YAML${line === undefined ? "" : `, line ${line}`}`);
}
