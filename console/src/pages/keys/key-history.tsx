/** The versions of a key, each with its difference from the version before it. */

import type { JSX } from "preact";
import { type KeyVersion, listKeyVersions } from "../../api/index.ts";
import { type ListPage, useListing } from "../../live/index.ts";
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

interface VersionPage extends ListPage<KeyVersion> {
  /** Oldest revision from which the history is complete; 0 = it has everything. */
  readonly compactRevision: number;
}

const TONES: Readonly<Record<string, Tone>> = { PUT: "good", DELETE: "bad", EXPIRE: "warning" };
const MARKS = { same: "  ", removed: "− ", added: "+ " };
/** The difference of longer values would be slow, and no person reads it. */
const COMPARED_BYTES_MAX = 65_536;

export function KeyHistory({ namespace, name, modRevision }: KeyHistoryProps): JSX.Element {
  const listing = useListing<KeyVersion, VersionPage>({
    load: async (pageToken, options) => {
      const page = await listKeyVersions(namespace, name, pageToken, options);
      return { items: page.versions, next: page.nextPageToken, compactRevision: Number(page.compactRevision) };
    },
    intervalMs: 0,
    dependencies: [namespace, name, modRevision],
  });
  const { loaded, items: versions, hasMore, problem, isLoadingMore, loadMore } = listing;
  const empty = emptyText(loaded, versions.length === 0, "The history no longer has any version of this key.");
  return (
    <div class="history">
      {empty !== undefined && <p class="muted">{empty}</p>}
      <ol>
        {versions.map((version, at) => (
          <Version key={`${version.kv?.modRevision} ${version.type}`} version={version} before={versions[at + 1]} />
        ))}
      </ol>
      <Problem message={problem} />
      {hasMore && (
        <Button onClick={loadMore} isDisabled={isLoadingMore}>
          Older versions
        </Button>
      )}
      {!hasMore && loaded.value !== undefined && loaded.value.compactRevision > 0 && (
        <p class="hint">The history begins at revision {countText(loaded.value.compactRevision)}.</p>
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
    <pre class="difference" tabindex={0}>
      {lines.map(({ kind, text }, at) => (
        <span key={at} class={`difference-${kind}`} data-value>
          {`${MARKS[kind]}${text}\n`}
        </span>
      ))}
    </pre>
  );
}
