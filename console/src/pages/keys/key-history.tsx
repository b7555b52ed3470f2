/** The versions of a key, each with its difference from the version before it. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ApiError, type KeyVersion, listKeyVersions } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import {
  bestForm,
  bytesOfBase64,
  countText,
  durationText,
  formattedValue,
  lineDifference,
  sizeText,
} from "../../text/index.ts";
import { Button, Chip, emptyText, Problem, type Tone } from "../../ui/index.ts";

export interface KeyHistoryProps {
  readonly namespace: string;
  readonly name: string;
  /** Changes with each change of the key, so that the history loads again. */
  readonly modRevision: string;
}

const TONES: Readonly<Record<string, Tone>> = { PUT: "good", DELETE: "bad", EXPIRE: "warning" };
const MARKS = { same: "  ", removed: "− ", added: "+ " };
/** The difference of longer values would be slow, and no person reads it. */
const COMPARED_BYTES_MAX = 65_536;

export function KeyHistory({ namespace, name, modRevision }: KeyHistoryProps): JSX.Element {
  const older = useSignal<{ readonly versions: readonly KeyVersion[]; readonly next: string } | null>(null);
  const problem = useSignal<string | undefined>(undefined);
  const { loaded } = usePolled((signal) => listKeyVersions(namespace, name, "", { signal }), 0, [
    ...[namespace, name, modRevision],
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: older versions belong to one state of the key.
  useEffect(() => {
    older.value = null;
  }, [modRevision]);
  const { value } = loaded.value;
  const versions = [...(value?.versions ?? []), ...(older.value?.versions ?? [])];
  const next = older.value?.next ?? value?.nextPageToken ?? "";
  const loadOlder = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const page = await listKeyVersions(namespace, name, next, {});
      older.value = { versions: [...(older.value?.versions ?? []), ...page.versions], next: page.nextPageToken };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    }
  };
  const empty = emptyText(loaded.value, versions.length === 0, "The history no longer has any version of this key.");
  return (
    <div class="history">
      {empty !== undefined && <p class="muted">{empty}</p>}
      <ol>
        {versions.map((version, at) => (
          <Version key={`${version.kv?.modRevision} ${version.type}`} version={version} before={versions[at + 1]} />
        ))}
      </ol>
      <Problem message={problem.value} />
      {next !== "" && <Button onClick={() => void loadOlder()}>Older versions</Button>}
      {next === "" && value !== undefined && value.compactRevision !== "0" && (
        <p class="hint">The history begins at revision {countText(Number(value.compactRevision))}.</p>
      )}
    </div>
  );
}

function Version({
  version: { type, kv, ageMs },
  before,
}: {
  readonly version: KeyVersion;
  readonly before: KeyVersion | undefined;
}): JSX.Element {
  const isPut = type === "PUT";
  const old = before?.type === "PUT" ? (before.kv?.value ?? "") : "";
  return (
    <li class="version">
      <p class="version-head">
        <Chip tone={TONES[type] ?? "neutral"}>{type.toLowerCase()}</Chip>
        <span>revision {countText(Number(kv?.modRevision ?? 0))}</span>
        <span class="muted">{ageMs === undefined ? "" : `${durationText(Number(ageMs))} ago`}</span>
        <span class="muted">{isPut ? sizeText(bytesOfBase64(kv?.value ?? "").length) : ""}</span>
      </p>
      {isPut && <Difference before={old} after={kv?.value ?? ""} />}
    </li>
  );
}

/** Both values are base64. */
function Difference({ before, after }: { readonly before: string; readonly after: string }): JSX.Element {
  const [old, fresh] = [bytesOfBase64(before), bytesOfBase64(after)];
  if (old.length + fresh.length > COMPARED_BYTES_MAX) {
    return <p class="muted">The values are too long to compare here.</p>;
  }
  const form = bestForm(fresh);
  const lines =
    old.length === 0 || bestForm(old) !== form
      ? formattedValue(fresh, form)
          .split("\n")
          .map((text) => ({ kind: "added" as const, text }))
      : lineDifference(formattedValue(old, form), formattedValue(fresh, form));
  return (
    <pre class="difference">
      {lines.map(({ kind, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a version never change.
        <span key={at} class={`difference-${kind}`}>
          {`${MARKS[kind]}${text}\n`}
        </span>
      ))}
    </pre>
  );
}
